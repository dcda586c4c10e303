"""Plugins of others, built for the tests: of nothing but their sources, the node's jars and ours."""

import re
import subprocess
import zipfile
from pathlib import Path

from cluster import BUILD, ENGINE, MAJOR, ROOT, SCRIPT, VERSION

COMMON = ROOT / "examples" / "opensearch_plugin"  # what knows no search engine is there for both
EXAMPLE = ROOT / "examples" / f"{ENGINE}_plugin"
JAVA = "21" if MAJOR >= {"elasticsearch": 9, "opensearch": 3}[ENGINE] else "17"
# What is written for OpenSearch 2, for Elasticsearch: 7 has other packages, later ones other names, too.
PACKAGES = [("org.opensearch.core.", "org.elasticsearch."), ("org.opensearch.", "org.elasticsearch.")]
OLD_NAMES = [*PACKAGES, ("prepareGet(index, id)", "prepareGet().setIndex(index).setId(id)"),
             ("prepareIndex(index)", "prepareIndex().setIndex(index)")]
NAMES = [("org.opensearch.client.node.", "org.elasticsearch.client.internal.node."), *PACKAGES,
         ("BytesRestResponse", "RestResponse"),
         ("public List<RestHandler> getRestHandlers(Settings settings, RestController controller,",
          "public java.util.Collection<RestHandler> getRestHandlers(Settings settings,\n"
          "      org.elasticsearch.common.io.stream.NamedWriteableRegistry registry, RestController controller,"),
         ("Supplier<DiscoveryNodes> nodes)", "Supplier<DiscoveryNodes> nodes,\n"
          "      java.util.function.Predicate<org.elasticsearch.features.NodeFeature> features)")]


def compiler():
    """The newest one: the classes of a node may be newer than the default one reads."""
    found = {int(match.group()): path for path in Path("/usr/lib/jvm").glob("*/bin/javac")
             if (match := re.search(r"\d+", path.parents[1].name))}
    return str(found[max(found)])


def build_ours():
    built = subprocess.run(
        [SCRIPT, "build", "--version", VERSION, "--from", BUILD], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr


def translated(folder, path):
    """The source of a plugin that is written for OpenSearch 2."""
    text = path.read_text()
    if ENGINE == "elasticsearch":
        for ours, theirs in NAMES if MAJOR >= 8 else OLD_NAMES:
            text = text.replace(ours, theirs)
    source = folder / path.name
    source.write_text(text)
    return source


def of_tests(folder, name):
    return translated(folder, Path(__file__).with_name(name))


def example(folder):
    """The sources of the example."""
    if ENGINE == "elasticsearch" and MAJOR < 8:
        return [translated(folder, path) for path in COMMON.glob("*.java")]
    return {*EXAMPLE.glob("*.java"), COMMON / "ViewsExtension.java"}


def policies(name):
    """The permissions of this plugin, for one that carries the library itself."""
    main = ROOT / ENGINE / "src" / "main" / "plugin"
    if ENGINE == "elasticsearch":
        if MAJOR >= 8:
            yield "entitlement-policy.yaml", (main / "entitlement-policy.yaml").read_text()
        main = ROOT / ENGINE / "src" / f"elasticsearch-{MAJOR}" / "plugin"
    policy = main / "plugin-security.policy"
    if policy.exists():
        text = policy.read_text()
        place = "plugins${/}forelock${/}"
        assert place in text
        yield "plugin-security.policy", text.replace(place, f"plugins${{/}}{name}${{/}}")


def build(folder, name, sources, plugin_class, extension_class=None):
    """A plugin's zip, as an option. Without an extension it is one that carries the jar and the library itself."""
    classes = folder / name
    jars = [f"{ROOT}/build/{ENGINE}/lib/{VERSION}/lib/*", f"{BUILD}/opensearch/java/forelock-0.1.0.jar",
            f"{BUILD}/opensearch/search/forelock-search-0.1.0.jar"]
    subprocess.run([compiler(), "--release", JAVA, "-d", str(classes), "-cp", ":".join(jars), *map(str, sources)],
                   check=True)
    with zipfile.ZipFile(folder / f"{name}.jar", "w") as jar:
        for file in classes.rglob("*.class"):
            jar.write(file, file.relative_to(classes))
        if extension_class:
            jar.writestr("META-INF/services/org.forelock.search.ForelockExtension", extension_class + "\n")
    descriptor = (EXAMPLE / "plugin-descriptor.properties").read_text()
    for old, new in ((f"@{ENGINE}.version@", VERSION), ("name=views", f"name={name}"),
                     ("java.version=17", f"java.version={JAVA}"), ("example.views.ViewsPlugin", plugin_class)):
        assert old in descriptor
        descriptor = descriptor.replace(old, new)
    if not extension_class:
        descriptor = descriptor.replace("extended.plugins=forelock\n", "")
    with zipfile.ZipFile(folder / f"{name}.zip", "w") as plugin:
        plugin.write(folder / f"{name}.jar", f"{name}.jar")
        plugin.writestr("plugin-descriptor.properties", descriptor)
        if not extension_class:
            for file, text in policies(name):
                plugin.writestr(file, text)
            for file in (jars[1], f"{BUILD}/java/native/libforelock_jni.so"):
                plugin.write(file, Path(file).name)
    return ["--plugin", str(folder / f"{name}.zip")]
