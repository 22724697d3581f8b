export type { RecordedStatus, StatusPosting } from './fold-posts.js'
export {
  findLastPipeline,
  findNewestPipeline,
  findNewestPipelines,
  findPipeline,
  findPipelineOfRef,
  findPipelineWithJobs,
  listPipelines,
  type PipelineFilter,
  type PipelineWithAuthor,
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
export type { StatusAuthor, StatusLabel, StatusWithAuthor } from './status-row.js'
