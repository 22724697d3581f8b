import { environmentsPerProjectMax } from '@switchyard/domain/deployment'
import type { Deployment, Environment } from '../../generated/client.js'
import { flag, integer, omit, pick, rowColumns, selectList, text, time } from '../../sql/row-columns.js'
import { insertInto, updateIn } from '../../sql/write-rows.js'

/** The one list of the columns of `environments`. */
const environments = rowColumns<Environment>({
  projectId: integer('project_id'),
  id: integer('id'),
  name: text('name'),
  slug: text('slug'),
  externalUrl: text('external_url'),
  tier: text('tier'),
  description: text('description'),
  autoStopSetting: text('auto_stop_setting'),
  state: text('state'),
  createdAt: time('created_at'),
  updatedAt: time('updated_at'),
})

export const environmentColumns = selectList('stored', environments)

/** Returns the new row, or nothing when the project has as many environments as it can have. */
export const insertEnvironmentRow = insertInto(
  'add-environment',
  'environments',
  omit(environments, 'id', 'state', 'createdAt', 'updatedAt'),
  `WHERE (SELECT count(*) FROM environments WHERE project_id = given.project_id) < ${environmentsPerProjectMax}
    RETURNING ${environmentColumns}`,
)

/** The one list of the columns of `deployments`. */
const deployments = rowColumns<Deployment>({
  projectId: integer('project_id'),
  id: integer('id'),
  iid: integer('iid'),
  environmentId: integer('environment_id'),
  ref: text('ref'),
  tag: flag('tag'),
  sha: text('sha'),
  status: text('status'),
  userId: integer('user_id'),
  sagaTenant: text('saga_tenant'),
  sagaId: text('saga_id'),
  frozen: flag('frozen'),
  createdAt: time('created_at'),
  updatedAt: time('updated_at'),
  finishedAt: time('finished_at'),
})

export const deploymentColumns = selectList('stored', deployments)

/** Returns the new row. */
export const insertDeploymentRow = insertInto(
  'add-deployment',
  'deployments',
  omit(deployments, 'id'),
  `RETURNING ${deploymentColumns}`,
)

export const updateProgress = updateIn(
  'change-deployment',
  'deployments',
  pick(deployments, 'projectId', 'id'),
  pick(deployments, 'status', 'updatedAt', 'finishedAt'),
)
