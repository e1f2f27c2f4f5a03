"""Formats the results as text and as Markdown."""

from __future__ import annotations

from common import LIMIT, OUR_NAME, OURS, PEER


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def spread(contestant: dict, operations: int) -> str:
    times = [t / operations for t in contestant["seconds"]]
    return f"{duration(min(times))} to {duration(max(times))}"


def ours_of(group: dict) -> dict | None:
    """Returns the fastest contestant of hyperslab."""
    candidates = [c for c in group["contestants"] if c.get("kind") == OURS]
    return min(candidates, key=lambda c: c["median"], default=None)


def several_of_ours(group: dict) -> bool:
    return sum(c.get("kind") == OURS for c in group["contestants"]) > 1


def verdict(target: dict) -> str:
    if target["met"] is None:
        return "not measured"
    return "met" if target["met"] else "MISSED"


def is_of_size(target: dict) -> bool:
    return target.get("of", "time") == "size"


def amount(contestant: dict | None, target: dict, count: int) -> str:
    """Returns the size or the time of a contestant, whichever a target compares."""
    if contestant is None:
        return "failed"
    if is_of_size(target):
        return f"{contestant['file_bytes'] / 1e6:.1f} MB"
    return f"{duration(contestant['median'] / count)}"


def memory_verdict(group: dict) -> str:
    growth, limit = group.get("growth_mib"), group["memory_limit_mib"]
    if limit is None or growth is None:
        return ""
    return f", at most {limit:g} wanted: {'met' if growth <= limit else 'MISSED'}"


def block(row: dict, group: dict) -> str:
    """Returns the text of one group: a line for each contestant and a line for each target."""
    ours, count = ours_of(group), group["operations"]
    load = group["others_cpu"]
    each = " (times are for one operation)" if count > 1 else ""
    threads = row["threads"]
    lines = [
        f"== {row['name']}: {group['group']}; {threads} thread{'s' * (threads > 1)}"
        f"{f'; {count} operations{each}' if count > 1 else ''}; others used {load if load is not None else '?'} CPU"
    ]
    for c in group["contestants"]:
        name = f"({c['name']})" if c.get("kind") == LIMIT else c["name"]
        if "error" in c:
            lines.append(f"   {name:28s} FAILED  {c['error']}")
            continue
        line = f"   {name:28s} {duration(c['median'] / count):>9s}  [{spread(c, count)}]"
        if "cpu" in c:
            line += f"  CPU {duration(c['cpu'] / count)}"
        if group["work_bytes"]:
            line += f"  {group['work_bytes'] / c['median'] / 1e9:.2f} GB/s"
        if ours and c["kind"] == PEER:
            line += f"  ours is {c['median'] / ours['median']:.2f} times as fast"
        if ours and c["kind"] == LIMIT:
            line += f"  ours reaches {c['median'] / ours['median']:.0%} of this"
        if c is ours and "growth_mib" in group:
            line += f"  memory +{group['growth_mib']:g} MiB (peak {group['peak_rss_mib']:g}){memory_verdict(group)}"
        if "file_bytes" in c:
            line += f"  file {c['file_bytes'] / 1e6:.1f} MB"
        if c["threads"]:
            line += f"  threads: {c['threads']}"
        lines.append(line)
    for t in group["targets"]:
        reached = f"{t['ratio']:.2f} ({t['low']:.2f} to {t['high']:.2f})" if t["ratio"] else "-"
        named = f"{t['ours']} " if several_of_ours(group) else ""
        named += "size " if is_of_size(t) else ""
        lines.append(f"   -> {named}against {t['against']}: {reached}, wanted {t['target']:.3g}: {verdict(t)}")
    return "\n".join(lines)


def markdown(results: dict) -> str:
    """Returns the whole table, with one line for each target."""
    machine = results["machine"]
    lines = [
        "# Speed against the peers",
        "",
        f"{machine['cpu']}, {machine['cpus']} CPUs, {machine['memory_gib']} GiB, Linux {machine['kernel']}; "
        f"scale {results['scale']:g}.",
        "",
        "Versions: " + ", ".join(f"{name} {version}" for name, version in machine["versions"].items()) + ".",
        "",
        "Ratio: time of the other over ours (median over median; in brackets the range over the rounds). "
        "Limit: our speed as a share of the speed of the machine, or of only the codec. "
        "Others: CPUs that other processes used. `bench/README.md` has the details.",
        "",
        "| row | threads | ours | against | theirs | ratio | wanted | verdict | limit | memory | others | commit |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in results["rows"]:
        for group in row["groups"]:
            lines += markdown_lines(row, group)
    lines += ["", summary(results["rows"]), ""]
    for row in results["rows"]:
        lines.append(
            f"- `{row['name']}`, {row['threads']} thread{'s' * (row['threads'] > 1)}: {row['title']}. "
            f"Measured {row['when']}; load average before: {row['load_average_before']:g}."
        )
    return "\n".join(lines) + "\n"


def markdown_lines(row: dict, group: dict) -> list[str]:
    ours, count = ours_of(group), group["operations"]
    by_name = {c["name"]: c for c in group["contestants"] if "error" not in c}
    limits = [
        f"{c['name']} {c['median'] / ours['median']:.0%}" for c in by_name.values() if ours and c["kind"] == LIMIT
    ]
    memory = f"+{group['growth_mib']:g} MiB{memory_verdict(group)}" if "growth_mib" in group else ""
    lines = []
    for t in group["targets"]:
        us, them = by_name.get(t.get("ours", OUR_NAME)), by_name.get(t["against"])
        time = amount(us, t, count) + (f" [{spread(us, count)}]" if us and not is_of_size(t) else "")
        name = f" ({us['name']})" if us and several_of_ours(group) else ""
        theirs = amount(them, t, count)
        ratio = f"{t['ratio']:.2f} ({t['low']:.2f} to {t['high']:.2f})" if t["ratio"] else ""
        cells = [
            f"{row['name']}: {group['group']}",
            row["threads"],
            time + name,
            t["against"],
            theirs,
            ratio,
            f"{t['target']:.3g}",
        ]
        cells += [verdict(t), ", ".join(limits), memory, group["others_cpu"], row["commit"]]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def summary(rows: list[dict]) -> str:
    """Returns how many targets are met, and a list of those that are not."""
    verdicts: list[tuple[str, bool | None]] = []
    failed = []
    for row in rows:
        if row["failure"]:
            failed.append(f"{row['name']}/{row['threads']}: {row['failure']}")
        for group in row["groups"]:
            place = f"{row['name']}/{row['threads']}: {group['group']}"
            failed += [f"{place}: {c['name']}: {c['error']}" for c in group["contestants"] if "error" in c]
            verdicts += [(f"{place} against {t['against']}", t["met"]) for t in group["targets"]]
            if group["memory_limit_mib"] is not None and "growth_mib" in group:
                verdicts.append((f"{place}, memory", group["growth_mib"] <= group["memory_limit_mib"]))
    met = sum(bool(ok) for _, ok in verdicts)
    lines = [f"{met} of {len(verdicts)} targets are met."]
    lines += [f"- missed: {name}" for name, ok in verdicts if ok is False]
    lines += [f"- not measured: {name}" for name, ok in verdicts if ok is None]
    lines += [f"- failed: {name}" for name in failed]
    return "\n".join(lines)
