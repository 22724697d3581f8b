/**
 * Series by their name and labels, with values in promtool's notation: `0+2x60` is 0, 2, 4, up to 120, one a
 * minute.
 */
export type Series = Record<string, string>

const serviceNames = ['git-api', 'saga-reporter', 'admin-broadcast', 'jobqueue-metrics', 'worker', 'console']
/** The first event of a process. */
const firstEvent = '0+0x160 1+0x20'
const always = (value: number | string) => `${value}x180`

const request = (status: string) =>
  `http_requests_total{service="git-api",method="GET",route="/api/v4/projects",status="${status}"}`
const timed = (part: string, le = '') =>
  `http_request_duration_seconds_${part}{service="git-api",method="GET",route="/api/v4/projects",status="200"${le}}`
const cloned = (part: string, le = '') =>
  `http_request_duration_seconds_${part}{service="git-api",method="POST",route="/:namespace/:project/git-upload-pack",status="200"${le}}`
const call = (code: string, method = 'SagaStarted') =>
  `grpc_server_handled_total{service="saga-reporter",method="/svc.Sagas.Server.Grpc.Saga/${method}",code="${code}"}`
const check = (name: string) => `service_check_up{service="worker",check="${name}"}`
const ofQueue = (name: string) => `${name}{source="switchyard",queue="webhook-delivery"}`
const ofSource = (name: string) => `${name}{source="switchyard"}`
const projectHook = (result: string) =>
  `project_webhook_deliveries_total{service="worker",result="${result}"}`
const sagaHook = (result: string) =>
  `saga_webhook_deliveries_total{service="worker",target="example.com",result="${result}"}`
const givenUp = (scope: string) => `webhook_deliveries_given_up_total{service="worker",scope="${scope}"}`
const latency = (le: string) =>
  `saga_event_ingest_duration_seconds_bucket{service="saga-reporter",op="SagaStarted",result="recorded",le="${le}"}`

const diskOf = (part: string) =>
  `node_filesystem_${part}_bytes{mountpoint="/var/lib/postgresql",fstype="ext4"}`
const walBehind =
  'pg_stat_replication_pg_wal_lsn_diff{instance="primary",application_name="second",state="streaming"}'
const certificateEnd =
  'probe_ssl_earliest_cert_expiry{job="switchyard-gateway",instance="https://switchyard.example.com"}'

/** Three hours of a healthy installation, with the tolerated errors and waits. */
export const healthy: Series = {
  ...Object.fromEntries(
    serviceNames.map((name) => [`process_start_time_seconds{service="${name}"}`, always('1000+0')]),
  ),
  switchyard_backup_cut_timestamp_seconds: always('-60000+0'),
  [request('200')]: always('0+600'),
  [request('500')]: always('0+0.3'),
  [request('404')]: always('0+300'),
  [timed('bucket', ',le="1"')]: always('0+595'),
  [timed('count')]: always('0+600'),
  // The duration of a clone depends on its size.
  [cloned('bucket', ',le="1"')]: always('0+0'),
  [cloned('count')]: always('0+60'),
  [call('OK')]: always('0+600'),
  [call('INTERNAL')]: always('0+0.3'),
  [call('INVALID_ARGUMENT')]: always('0+300'),
  [call('UNAVAILABLE', 'WatchSagas')]: always('0+60'),
  [check('postgres')]: always('1+0'),
  [check('redis')]: always('1+0'),
  [check('webhook-secrets')]: always('1+0'),
  'nodejs_eventloop_lag_p99_seconds{service="worker"}': always('0.02+0'),
  'database_pool_waiting{service="git-api",pool="main"}': '0 3 '.repeat(90).trim(),
  'process_open_fds{service="git-api"}': always('200+0'),
  'process_max_fds{service="git-api"}': always('1000+0'),
  'audit_export_lag_seconds{service="worker",destination="syslog"}': '0 300 '.repeat(90).trim(),
  'saga_ingest_consecutive_failures{service="saga-reporter"}': always('0+0'),
  [latency('0.01')]: always('0+100'),
  [latency('+Inf')]: always('0+100'),
  'activities_parked{service="worker"}': always('0+0'),
  'sagas_error{service="orders"}': always('0+0'),
  'sagas_stuck{service="orders"}': always('0+0'),
  'activities_overdue{service="orders"}': always('0+0'),
  [projectHook('succeeded')]: always('0+60'),
  [projectHook('failed')]: always('0+6'),
  [givenUp('project')]: always('0+0'),
  [givenUp('saga')]: always('0+0'),
  [sagaHook('succeeded')]: always('0+60'),
  [sagaHook('failed')]: always('0+6'),
  'git_api_storage_free_bytes{service="git-api"}': always('4e11-1e7'),
  'git_api_storage_size_bytes{service="git-api"}': always('1e12+0'),
  'git_api_storage_kept_free_bytes{service="git-api"}': always('1e9+0'),
  'git_api_refused_forwards_total{service="git-api"}': always('0+0.1'),
  'git_api_repository_moves_total{service="git-api",result="failed"}': always('0+0'),
  [ofSource('jobqueue_source_up')]: always('1+0'),
  [ofSource('jobqueue_dead')]: always('3+0'),
  [ofSource('jobqueue_busy')]: always('3+0'),
  [ofSource('jobqueue_concurrency')]: always('10+0'),
  [ofSource('jobqueue_heartbeat_age_seconds_max')]: always('5+0'),
  [ofQueue('jobqueue_queue_latency_seconds')]: always('3+0'),
  [ofQueue('jobqueue_queue_backlog')]: always('20+0'),
  [ofQueue('jobqueue_queue_busy')]: always('3+0'),
  [ofQueue('jobqueue_queue_processes')]: always('2+0'),
  [ofQueue('jobqueue_queue_paused')]: always('0+0'),
  [ofQueue('jobqueue_queue_processed_total')]: always('0+100'),
  [ofQueue('jobqueue_queue_failed_total')]: always('0+5'),
  'worker_jobs_dead_total{service="worker",queue="webhook-delivery"}': always('0+0'),
  [diskOf('avail')]: always('5e10+0'),
  [diskOf('size')]: always('1e11+0'),
  'redis_memory_used_bytes{instance="redis"}': always('1e8+0'),
  'redis_memory_max_bytes{instance="redis"}': always('6e8+0'),
  'pg_up{instance="primary"}': always('1+0'),
  'redis_up{instance="redis"}': always('1+0'),
  'up{job="node",instance="node-exporter:9100"}': always('1+0'),
  [walBehind]: always('1e6+0'),
  'probe_success{job="switchyard-gateway",instance="https://switchyard.example.com"}': always('1+0'),
  [certificateEnd]: always('3e6+0'),
  'pg_stat_user_tables_n_live_tup{relname="audit_events"}': always('1e6+0'),
}

interface Trouble {
  /** The differences from a healthy installation; null: the series is missing. */
  input: Record<string, string | null>
  /** Further alerts that the same problem raises. */
  also?: string[]
}

/** The problem that raises each alert. */
export const troubles: Record<string, Trouble> = {
  // More than 1.44 %, in the last hour only.
  ServiceErrorsFast: { input: { [request('500')]: '0+0x120 0+30x60' }, also: ['ServiceErrorsSlow'] },
  // About 1 %, for hours.
  ServiceErrorsSlow: { input: { [call('UNAVAILABLE')]: always('0+9') } },
  ServiceSlowFast: {
    input: { [timed('bucket', ',le="1"')]: '0+600x120 72000+300x60' },
    also: ['ServiceSlowSlow'],
  },
  ServiceSlowSlow: { input: { [timed('bucket', ',le="1"')]: always('0+540') } },
  ServiceMissing: { input: { 'process_start_time_seconds{service="worker"}': '1000+0x100 stale' } },
  DatabaseAway: { input: { [check('postgres')]: always('0+0') } },
  RedisAway: { input: { [check('redis')]: always('0+0') } },
  ServiceNotReady: { input: { [check('webhook-secrets')]: always('0+0') } },
  ServiceRestarts: {
    input: { 'process_start_time_seconds{service="worker"}': '1000+0x160 2000 3000 4000+0x20' },
  },
  EventLoopLate: { input: { 'nodejs_eventloop_lag_p99_seconds{service="worker"}': always('0.8+0') } },
  DatabasePoolExhausted: { input: { 'database_pool_waiting{service="git-api",pool="main"}': always('3+0') } },
  FilesRunOut: { input: { 'process_open_fds{service="git-api"}': always('900+0') } },
  AuditExportLate: {
    input: { 'audit_export_lag_seconds{service="worker",destination="syslog"}': '0x100 60+60x80' },
  },
  SagaEventsFail: { input: { 'saga_ingest_consecutive_failures{service="saga-reporter"}': always('3+0') } },
  SagaEventsLate: { input: { [latency('0.01')]: always('0+90'), [latency('5')]: always('0+100') } },
  SagaFiguresMissing: { input: { 'activities_parked{service="worker"}': null } },
  SagasInError: { input: { 'sagas_error{service="orders"}': always('1+0') } },
  SagasStuck: { input: { 'sagas_stuck{service="orders"}': always('1+0') } },
  ActivitiesOverdue: { input: { 'activities_overdue{service="orders"}': always('1+0') } },
  ActivitiesParked: { input: { 'activities_parked{service="worker"}': always('1+0') } },
  ProjectWebhooksFail: { input: { [projectHook('failed')]: always('0+90') } },
  SagaWebhooksFail: { input: { [sagaHook('failed')]: always('0+90') } },
  WebhooksGivenUp: { input: { [givenUp('saga')]: firstEvent } },
  BackupMissing: { input: { switchyard_backup_cut_timestamp_seconds: null } },
  ServerDiskAlmostFull: { input: { [diskOf('avail')]: always('1e10+0') } },
  ServerDiskFull: { input: { [diskOf('avail')]: always('1e9+0') }, also: ['ServerDiskAlmostFull'] },
  ExporterAway: { input: { 'up{job="node",instance="node-exporter:9100"}': always('0+0') } },
  RedisMemoryHigh: { input: { 'redis_memory_used_bytes{instance="redis"}': always('5.5e8+0') } },
  StandbyMissing: { input: { [walBehind]: '1e6+0x100 stale' } },
  ReplicationLate: { input: { [walBehind]: always('3e8+0') } },
  GatewayAway: {
    input: {
      'probe_success{job="switchyard-gateway",instance="https://switchyard.example.com"}': always('0+0'),
    },
  },
  CertificateEnds: { input: { [certificateEnd]: always('1e6+0') } },
  AuditLogGrows: {
    input: { 'pg_stat_user_tables_n_live_tup{relname="audit_events"}': always('6e6+0') },
  },
  BackupTooOld: { input: { switchyard_backup_cut_timestamp_seconds: always('-90000+0') } },
  StorageAlmostFull: { input: { 'git_api_storage_free_bytes{service="git-api"}': always('9e10+0') } },
  StorageFull: {
    input: { 'git_api_storage_free_bytes{service="git-api"}': always('2e10+0') },
    also: ['StorageAlmostFull'],
  },
  StorageFillsUp: { input: { 'git_api_storage_free_bytes{service="git-api"}': always('5e11-4e8') } },
  StorageFillsFast: { input: { 'git_api_storage_free_bytes{service="git-api"}': '4e11+0x150 4e11-8e9x30' } },
  ForwardsRefused: { input: { 'git_api_refused_forwards_total{service="git-api"}': always('0+2') } },
  RepositoryMovesFail: {
    input: { 'git_api_repository_moves_total{service="git-api",result="failed"}': firstEvent },
  },
  JobQueueSourceAway: { input: { [ofSource('jobqueue_source_up')]: always('0+0') } },
  JobQueueFiguresMissing: { input: { [ofSource('jobqueue_source_up')]: null } },
  JobQueueLatencyHigh: { input: { [ofQueue('jobqueue_queue_latency_seconds')]: always('400+0') } },
  JobQueueGrows: { input: { [ofQueue('jobqueue_queue_backlog')]: always('200+1') } },
  JobQueueWithoutWorkers: {
    input: { [ofQueue('jobqueue_queue_processes')]: always('0+0'), [ofQueue('jobqueue_queue_busy')]: null },
  },
  JobQueueBusyWithoutWorkers: {
    input: {
      [ofQueue('jobqueue_queue_processes')]: always('0+0'),
      [ofQueue('jobqueue_queue_backlog')]: null,
    },
  },
  JobQueuePausedWithJobs: { input: { [ofQueue('jobqueue_queue_paused')]: always('1+0') } },
  JobsFail: { input: { [ofQueue('jobqueue_queue_failed_total')]: always('0+30') } },
  JobsDie: { input: { [ofSource('jobqueue_dead')]: '3+0x160 4+0x20' } },
  JobWorkersSaturated: { input: { [ofSource('jobqueue_busy')]: always('10+0') } },
  JobWorkerSilent: { input: { [ofSource('jobqueue_heartbeat_age_seconds_max')]: always('60+0') } },
  SwitchyardJobsDie: {
    input: { 'worker_jobs_dead_total{service="worker",queue="webhook-delivery"}': firstEvent },
  },
}
