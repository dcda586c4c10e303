"""Plugins of others, built for the tests: of nothing but their sources, the node's jars and ours."""

import re
import subprocess
import zipfile
from pathlib import Path

from cluster import BUILD, ENGINE, MAJOR, ROOT, SCRIPT, VERSION

COMMON = ROOT / "examples" / "opensearch_plugin"  # what knows no search engine is there for both
EXAMPLE = ROOT / "examples" / f"{ENGINE}_plugin"
JAVA = "21" if MAJOR >= {"elasticsearch": 9, "opensearch": 3}[ENGINE] else "17"
# What is written for OpenSearch 2, for others: Elasticsearch 7 has other packages, later ones other names, too.
OPENSEARCH_3 = [("org.opensearch.client.node.", "org.opensearch.transport.client.node.")]
PACKAGES = [('.setPreference("_primary")', ""), ("org.opensearch.core.", "org.elasticsearch."),
            ("org.opensearch.", "org.elasticsearch.")]
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


def next_version(folder, home):
    """Makes a later version of our plugin of the one that is installed there: it says more to other nodes."""
    ours = home / "plugins" / "forelock"
    changed = {"search": (ROOT / "search/src/main/java/org/forelock/search/Guard.java", 'ADDED = "-"',
                          'ADDED = "next=1"')}
    if ENGINE == "opensearch":
        source = ROOT / "opensearch/src/shared/java/org/forelock/opensearch/CertaintyService.java"
        asks = 'question.put("attempt", guard.attempt);'
        changed[ENGINE] = (source, asks, asks + ' question.put("next", 1);')
    for part, (source, old, new) in changed.items():
        text = source.read_text()
        assert old in text
        later = folder / "next" / part / source.name
        later.parent.mkdir(parents=True, exist_ok=True)
        later.write_text(text.replace(old, new))
        classes = folder / "next" / part / "classes"
        subprocess.run([compiler(), "--release", JAVA, "-d", str(classes), "-cp",
                        f"{ours}/*:{ROOT}/build/{ENGINE}/lib/{VERSION}/lib/*", str(later)], check=True)
        jar = ours / f"forelock-{part}-0.1.0.jar"
        made = {str(file.relative_to(classes)): file.read_bytes() for file in classes.rglob("*.class")}
        with zipfile.ZipFile(jar) as before:
            entries = {name: before.read(name) for name in before.namelist()}
        assert made.keys() <= entries.keys()
        jar.unlink()  # not through a link into another home
        with zipfile.ZipFile(jar, "w") as after:
            for name, data in {**entries, **made}.items():
                after.writestr(name, data)
    descriptor = ours / "plugin-descriptor.properties"
    text = descriptor.read_text()
    assert "version=0.1.0" in text
    descriptor.unlink()
    descriptor.write_text(text.replace("version=0.1.0", "version=0.2.0", 1))


def build_ours():
    built = subprocess.run(
        [SCRIPT, "provide", "--version", VERSION, "--from", BUILD], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr


def translated(folder, path):
    """The source of a plugin that is written for OpenSearch 2."""
    text = path.read_text()
    names = OPENSEARCH_3 * (MAJOR >= 3) if ENGINE == "opensearch" else NAMES if MAJOR >= 8 else OLD_NAMES
    for ours, theirs in names:
        text = text.replace(ours, theirs)
    source = folder / path.name
    source.write_text(text)
    return source


def of_tests(folder, name):
    return translated(folder, Path(__file__).with_name(name))


def example(folder):
    """The sources of the example; of what differs too much there are two."""
    if ENGINE == "opensearch" or MAJOR < 8:
        return [translated(folder, path) for path in COMMON.glob("*.java")]
    own = {path.name: path for path in EXAMPLE.glob("*.java")}
    return [own.get(path.name) or translated(folder, path) for path in COMMON.glob("*.java")]


def build_example(folder):
    """The example's zip, as an option."""
    service = (COMMON / "META-INF" / "services" / "org.forelock.search.ForelockExtension").read_text().strip()
    return build(folder, "articles", example(folder), "example.articles.ArticlesPlugin", service)


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
    for old, new in ((f"@{ENGINE}.version@", VERSION), ("name=articles", f"name={name}"),
                     ("java.version=17", f"java.version={JAVA}"), ("example.articles.ArticlesPlugin", plugin_class)):
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
