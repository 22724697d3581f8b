-- The run of a rule that shows the message. No reference: what the rule did ends with its run, and the message is ended then.
ALTER TABLE broadcast_messages ADD COLUMN rule_project_id integer, ADD COLUMN rule_run_id integer;
