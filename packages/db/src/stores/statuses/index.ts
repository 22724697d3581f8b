export type { StatusAuthor } from './author.js'
export type { RecordedStatus, StatusPosting } from './fold-posts.js'
export type { PipelineWithAuthor } from './pipeline-row.js'
export {
  findLastPipeline,
  findNewestPipeline,
  findNewestPipelines,
  findPipeline,
  findPipelineOfRef,
  findPipelineWithJobs,
  listPipelines,
  type PipelineFilter,
  type PipelineWithJobs,
  pipelineOrders,
} from './pipelines.js'
export {
  findNewestStatus,
  hasCommitStatus,
  listCommitStatuses,
  listCountedStatuses,
  type StatusFilter,
} from './read-statuses.js'
export { createStatusRecorder, type StatusRecorder } from './status-recorder.js'
export type { StatusLabel, StatusWithAuthor } from './status-row.js'
