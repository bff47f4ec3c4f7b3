"""`dbt build` of the shipped models with another `set_scope`, in a process of its own.

python watched_scopes.py watched|broken OPTION...: `watched` keeps what each part of a scope brings beside the
whole, in `control.part_<n>_of_<model>`; `broken` leaves every scope empty. The project's files stay as they are:
the text of the macro is another one in memory alone.
"""

import sys

from dbt.cli.main import dbtRunner

SCOPE = (
    "create or replace table control.scope_of_' ~ this.identifier ~ ' as select distinct * from (' ~ query ~ ')"
)
KEPT = "create or replace table control.part_' ~ loop.index ~ '_of_' ~ this.identifier ~ ' as ' ~ part ~ '"
WATCHED = f"""
{{% macro set_scope(query) -%}}
    {{%- for part in query.split('\\nunion\\n') -%}}{{% do run_query('{KEPT}') %}}{{%- endfor -%}}
    {{% do run_query('{SCOPE}') %}}
{{%- endmacro %}}
"""
BROKEN = f"{{% macro set_scope(query) -%}}{{% do run_query('{SCOPE} where false') %}}{{%- endmacro %}}"


def main(how: str, options: list[str]) -> bool:
    """Build, with the project as it was parsed last."""
    folders = options[options.index("--project-dir") :]
    manifest = dbtRunner().invoke(["--quiet", "parse", *folders]).result
    macros = manifest.macros  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue] - of `parse`
    macros["macro.vetl.set_scope"].macro_sql = WATCHED if how == "watched" else BROKEN
    return dbtRunner(manifest=manifest).invoke(options).success  # pyright: ignore[reportArgumentType] - of `parse`


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1], sys.argv[2:]) else 1)
