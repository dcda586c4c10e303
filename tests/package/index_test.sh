#!/usr/bin/env bash
# Uses the repository for Maven and the index for pip that scripts/package.sh has made, as their users do, and takes a
# lock with each: index_test.sh SOURCE
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=root.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/root.sh"
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
own_command

step "pip"
/usr/bin/python3 -m venv --system-site-packages --without-pip "$work/venv"
/usr/bin/python3 -m pip --python "$work/venv/bin/python" --disable-pip-version-check --quiet install --no-deps \
  --index-url "file://$packages/python" forelock
with_server "$work/venv/bin/python" -B "$source_dir/tests/package/languages/held.py" "$work" | held

step "Maven"
mkdir -p "$work/project/src/main/java"
cp -- "$source_dir/tests/package/languages/Held.java" "$work/project/src/main/java/"
cat >"$work/project/pom.xml" <<XML
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId>
  <artifactId>held</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.release>11</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <repositories>
    <repository><id>forelock</id><url>file://$packages/maven</url></repository>
  </repositories>
  <dependencies>
    <dependency><groupId>org.forelock</groupId><artifactId>forelock</artifactId><version>$version</version></dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-compiler-plugin</artifactId>
        <version>3.13.0</version>
      </plugin>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-resources-plugin</artifactId>
        <version>3.3.1</version>
      </plugin>
    </plugins>
  </build>
</project>
XML
# What Maven has fetched before is at hand, but of this project nothing.
mkdir "$work/repository"
cp -rl -- "${HOME}/.m2/repository/." "$work/repository/" 2>/dev/null ||
  cp -r -- "${HOME}/.m2/repository/." "$work/repository/"
rm -rf -- "$work/repository/org/forelock"
mvn -B -q --strict-checksums -f "$work/project/pom.xml" "-Dmaven.repo.local=$work/repository" compile
jar=$work/repository/org/forelock/forelock/$version/forelock-$version.jar
cmp "$jar" "$packages/maven/org/forelock/forelock/$version/forelock-$version.jar"
with_server java -cp "$jar:$work/project/target/classes" Held "$work" | held

step "done"
