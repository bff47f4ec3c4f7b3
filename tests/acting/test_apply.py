"""Plans are applied against a real platform: each wish becomes one task, whatever happens on the way."""

from support.act_world import ActWorld, leaks

from pipelines.jobs.act import apply_acts, plan_acts


def test_each_leak_becomes_one_task(world: ActWorld) -> None:
    world.build(leaks(5))
    plan = plan_acts(world.settings, None)

    result = apply_acts(world.settings, plan.digest)

    assert (result.sent, result.adopted, result.unknown, result.exit_code) == (5, 0, 0, 0)
    assert sorted(world.codes()) == sorted(act.code for act in plan.acts)
    assert {task["title"] for task in world.tasks()} == {"Call back about scheduling"}
