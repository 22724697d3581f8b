-- The figures of queues before and after a deployment. NULL: they were not compared.
ALTER TABLE deployment_impacts ADD COLUMN queues jsonb;
