-- A plan that was made while there were few activities may look for one by its tenant alone, and is kept: every failure
-- then reads all activities there are. Failures are rare enough to be planned each.
ALTER FUNCTION keep_saga_errors() SET plan_cache_mode = force_custom_plan;
