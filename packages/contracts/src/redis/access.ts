import {
  broadcastChannel,
  jobKeyPrefix,
  projectEventsChannel,
  queueHistoryKeys,
  queueNames,
  sagaEventsChannel,
} from '../jobs/index.js'

/** The services that log in to Redis, each as its own user. */
export const redisServices = [
  'git-api',
  'admin-broadcast',
  'jobqueue-metrics',
  'saga-reporter',
  'worker',
] as const

export type RedisService = (typeof redisServices)[number]

interface RedisAccess {
  /** Patterns of the keys that the service may read and write. */
  keys: string[]
  /** Patterns of further keys that it may read. */
  readKeys?: string[]
  channels: string[]
  commands?: string[]
}

/** Returns a pattern of the keys of a queue and its jobs, which BullMQ's scripts build from this part. */
const queueKeys = (queue: string) => `${jobKeyPrefix}:${queue}:*`

/**
 * Returns a pattern of the keys with which the service kit counts requests and unknown tokens for all
 * replicas of a service.
 */
const limitKeys = (service: RedisService) => `switchyard:limits:${service}:*`

/** The rights of each service. Every integration and end-to-end test runs with them. */
const redisAccess: Record<RedisService, RedisAccess> = {
  'git-api': {
    // Each storage has a separate housekeeping queue.
    keys: [
      queueKeys(queueNames.repositoryHousekeeping),
      queueKeys(`${queueNames.repositoryHousekeeping}-*`),
      limitKeys('git-api'),
    ],
    channels: [projectEventsChannel],
  },
  'admin-broadcast': {
    keys: [queueKeys(queueNames.broadcastBoundary), limitKeys('admin-broadcast')],
    channels: [broadcastChannel],
  },
  // jobqueue-metrics retries and removes failed jobs, keeps a history, and may report on the queues of other
  // programs in this Redis.
  'jobqueue-metrics': {
    keys: [`${jobKeyPrefix}:*`, '{jq}:history:*', limitKeys('jobqueue-metrics')],
    readKeys: ['*'],
    channels: [],
    commands: ['+scan', '+client|list'],
  },
  'saga-reporter': { keys: [limitKeys('saga-reporter')], channels: [sagaEventsChannel] },
  // The worker compares queues before and after a deployment by their history.
  worker: {
    keys: [`${jobKeyPrefix}:*`, `{jq}:${jobKeyPrefix}:*`],
    readKeys: [queueHistoryKeys[60]],
    channels: [broadcastChannel],
  },
}

/**
 * Commands that every service may use on its keys. Scripts, such as those of BullMQ, run with the rights of
 * the user, so they reach no other keys. ioredis sends INFO when it connects.
 */
const commands = [
  '-@all',
  '+@read',
  '+@write',
  '+@connection',
  '+@transaction',
  '-@dangerous',
  '-@scripting',
  // These commands take no key, and would reveal data of other services.
  '-scan',
  '-randomkey',
  '-dbsize',
  '+eval',
  '+evalsha',
  '+script|exists',
  '+script|load',
  '+info',
  '+publish',
  '+subscribe',
  '+unsubscribe',
]

/** Returns the name of a service's user, e.g. `switchyard_git_api`. */
export const redisUserOf = (service: RedisService): string => `switchyard_${service.replaceAll('-', '_')}`

/** Returns the line of a service in an ACL file of Redis, without `on` and a password. */
function userLine(service: RedisService): string {
  const { keys, readKeys = [], channels, commands: further = [] } = redisAccess[service]
  const rules = [
    'reset',
    ...keys.map((pattern) => `~${pattern}`),
    ...readKeys.map((pattern) => `%R~${pattern}`),
    ...channels.map((channel) => `&${channel}`),
    ...commands,
    ...further,
  ]
  return `user ${redisUserOf(service)} ${rules.join(' ')}`
}

/** The line of an exporter of metrics, which reads no key and no setting. */
const monitoringLine = 'user switchyard_monitoring reset -@all +ping +info +latency|latest +latency|histogram'

/** The lines of all users in an ACL file of Redis, without `on` and a password. */
export const redisUserLines: readonly string[] = [...redisServices.map(userLine), monitoringLine]
