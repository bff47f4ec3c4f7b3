"""MetricFlow in a process of its own, as `mf` runs it: it keeps dbt's global state and takes over the log.

python metric_answers.py PROJECT QUESTIONS ANSWERS: `PROJECT` is a dbt project with its semantic manifest in
`target/`, `QUESTIONS` a pickled list of names of saved queries. `ANSWERS` receives the objections of the
validation, and the rows of each query, pickled.
"""

import pickle
import sys
from pathlib import Path

from dbt_metricflow.cli.cli_configuration import CLIConfiguration
from metricflow.engine.metricflow_engine import MetricFlowQueryRequest
from metricflow.validation.data_warehouse_model_validator import DataWarehouseModelValidator
from metricflow_semantic_interfaces.protocols.semantic_manifest import SemanticManifest
from metricflow_semantic_interfaces.validations.semantic_manifest_validator import SemanticManifestValidator


def main(project: Path, questions: Path, answers: Path) -> None:
    configuration = CLIConfiguration()
    configuration.setup(dbt_profiles_path=project, dbt_project_path=project)
    results = []
    for question in pickle.loads(questions.read_bytes()):
        request = MetricFlowQueryRequest.create(saved_query_name=question)
        table = configuration.mf.query(request).result_df
        assert table is not None
        results.append([tuple(row) for row in table.rows])
    answers.write_bytes(pickle.dumps((objections(configuration), results)))


def objections(configuration: CLIConfiguration) -> list[str]:
    """Return everything that `mf validate-configs --show-all` would print: errors, future errors and warnings."""
    manifest = configuration.semantic_manifest
    warehouse = DataWarehouseModelValidator(sql_client=configuration.sql_client)
    results = [
        SemanticManifestValidator[SemanticManifest]().validate_semantic_manifest(manifest),  # pyright: ignore[reportArgumentType] - its own default rules
        warehouse.validate_semantic_models(manifest),
        warehouse.validate_dimensions(manifest),
        warehouse.validate_entities(manifest),
        warehouse.validate_simple_metrics(manifest),
        warehouse.validate_metrics(manifest),
    ]
    return [issue.as_readable_str() for result in results for issue in result.all_issues]


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
