import { type Route, route } from '@switchyard/service-kit/http'
import type { Dependencies } from '../../dependencies.js'
import * as pipelines from './pipelines.js'
import { refuseToRun } from './refuse-to-run.js'

export function pipelineRoutes(deps: Dependencies): Route[] {
  const { readPipelines, pushCode, own } = deps.guards
  const path = '/projects/:id/pipelines'
  return [
    route('GET', path, readPipelines, pipelines.listPipelines(deps)),
    route('GET', `${path}/latest`, readPipelines, pipelines.getLatestPipeline(deps)),
    route('GET', `${path}/:pipeline_id`, readPipelines, pipelines.getPipeline(deps)),
    route('GET', `${path}/:pipeline_id/jobs`, readPipelines, pipelines.listJobs(deps)),
    route('POST', '/projects/:id/pipeline', pushCode, refuseToRun('Start a pipeline')),
    route('POST', `${path}/:pipeline_id/retry`, pushCode, refuseToRun('Run a pipeline again')),
    route('POST', `${path}/:pipeline_id/cancel`, pushCode, refuseToRun('Stop a pipeline')),
    route('DELETE', `${path}/:pipeline_id`, own, refuseToRun('Delete a pipeline')),
  ]
}
