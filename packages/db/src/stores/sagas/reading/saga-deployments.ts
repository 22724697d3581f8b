import { type Readable, readRows } from './read-query.js'

/** A deployment that names a saga. Nothing else of it is shown to readers of sagas, who may not see the project. */
export interface SagaDeployment {
  id: number
  projectId: number
  /** Name of the environment. */
  environment: string
  status: string
}

const shownMax = 100

const deploymentsOfSaga = {
  name: 'saga-read-deployments',
  text: `SELECT d.id, d.project_id AS "projectId", e.name AS environment, d.status FROM deployments d
    JOIN environments e ON e.project_id = d.project_id AND e.id = d.environment_id
    WHERE d.saga_tenant = $1 AND d.saga_id = $2 ORDER BY d.id DESC LIMIT ${shownMax}`,
}

/** The newest 100 deployments that name a saga, the newest first. */
export const listSagaDeployments = (
  database: Readable,
  tenant: string,
  sagaId: string,
): Promise<SagaDeployment[]> =>
  readRows<SagaDeployment>(database, { ...deploymentsOfSaga, values: [tenant, sagaId] })
