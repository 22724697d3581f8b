import { deploymentStatuses } from '@switchyard/domain/deployment'
import { sagaFlagKinds, sagaOutcomes, sagaStatuses } from '@switchyard/domain/saga'
import { oneOf } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { SagaDetail } from '../read/read.js'
import type { SagaChild, SagaChildren } from '../read/store.js'
import type { SagaNote } from '../resolve/store.js'
import type { SagaView } from '../saga-view-store.js'
import { activityShape, durationOfSaga, presentActivity, type SagaUrl } from './activity.js'
import { writeActivityCursor } from './paging.js'
import { countedMax } from './search.js'

export const noteShape = z
  .object({
    id: z.int(),
    author: z.object({ id: z.int(), username: z.string() }),
    body: z.string(),
    created_at: z.date(),
  })
  .meta({ id: 'SagaNote', description: 'A note of an operator about a saga' })

export const presentNote = ({
  id,
  authorId,
  authorName,
  body,
  createdAt,
}: SagaNote): z.output<typeof noteShape> => ({
  id,
  author: { id: authorId, username: authorName },
  body,
  created_at: createdAt,
})

const flagShape = z.object({
  kind: z.enum(sagaFlagKinds),
  activity_id: z.string().nullable(),
  since: z.date(),
})

const resolutionShape = z.object({ at: z.date(), by: z.string().nullable() })

export const sagaShape = z
  .object({
    saga_id: z.string(),
    tenant: z.string(),
    service_name: z.string().nullable(),
    status: z.enum(sagaStatuses),
    outcome: oneOf(sagaOutcomes).nullable(),
    late: z.boolean(),
    flags: z.array(flagShape),
    tags: z.array(z.string()),
    add_time: z.date().nullable(),
    started_at: z.date().nullable(),
    ended_at: z.date().nullable(),
    expires_at: z.date().nullable(),
    resolution: resolutionShape.nullable(),
    parent_saga_id: z.string().nullable(),
    first_seen_at: z.date(),
    last_event_at: z.date(),
    duration_ms: z.int().nullable(),
  })
  .meta({ id: 'Saga', description: 'A saga in a list' })

/** Shows only the id of the project, because readers of sagas may not see the project. */
const sagaDeploymentShape = z
  .object({
    id: z.int(),
    project_id: z.int(),
    environment: z.string(),
    status: oneOf(deploymentStatuses),
  })
  .meta({ id: 'SagaDeployment', description: 'A deployment that names the saga' })

const sagaChildShape = z
  .object({
    saga_id: z.string(),
    service_name: z.string().nullable(),
    status: z.enum(sagaStatuses),
    outcome: oneOf(sagaOutcomes).nullable(),
    first_seen_at: z.date(),
    ended_at: z.date().nullable(),
  })
  .meta({ id: 'SagaChild', description: 'A saga that names the saga as its parent' })

const childCountsShape = z
  .partialRecord(z.enum(sagaStatuses), z.int())
  .nullable()
  .meta({
    description: `Number of children by status, each up to ${countedMax}; null when counting takes too long`,
  })

export const sagaDetailShape = z
  .object({
    ...sagaShape.shape,
    resolution: z.object({ ...resolutionShape.shape, note: z.string().nullable() }).nullable(),
    notes: z.array(noteShape),
    deployments: z.array(sagaDeploymentShape).meta({ description: 'The newest 100, newest first' }),
    children: z.array(sagaChildShape).meta({ description: 'The newest 100, newest first' }),
    children_counts: childCountsShape,
    events_url: z.string(),
    activities: z.array(activityShape).meta({ description: 'In order, at most 1,000' }),
    next_activities_cursor: z
      .string()
      .nullable()
      .meta({ description: 'For `activities_cursor`, when there are more activities; else null' }),
  })
  .meta({ id: 'SagaDetail', description: 'A saga with its related data, without its events' })

/** Returns a saga for lists. */
export const presentSaga = (saga: SagaView): z.output<typeof sagaShape> => ({
  saga_id: saga.id,
  tenant: saga.tenant,
  service_name: saga.serviceName,
  status: saga.status,
  outcome: saga.outcome,
  late: saga.late,
  flags: saga.flags.map(({ kind, activityId, since }) => ({ kind, activity_id: activityId, since })),
  tags: saga.tags,
  add_time: saga.addTime,
  started_at: saga.startedAt,
  ended_at: saga.endedAt,
  expires_at: saga.expiresAt,
  resolution: saga.resolvedAt && { at: saga.resolvedAt, by: saga.resolvedBy },
  parent_saga_id: saga.parentSagaId,
  first_seen_at: saga.firstSeenAt,
  last_event_at: saga.lastEventAt,
  duration_ms: durationOfSaga(saga),
})

const presentChild = (child: SagaChild): z.output<typeof sagaChildShape> => ({
  saga_id: child.id,
  service_name: child.serviceName,
  status: child.status,
  outcome: child.outcome,
  first_seen_at: child.firstSeenAt,
  ended_at: child.endedAt,
})

/** Returns the counts; statuses without children are left out. */
const presentCounts = (counts: SagaChildren['counts']): z.output<typeof childCountsShape> =>
  counts &&
  Object.fromEntries(
    Object.entries(counts).flatMap(([status, count]) =>
      count > 0 ? [[status, Math.min(count, countedMax)]] : [],
    ),
  )

/** Returns one saga with all related data except its log. */
export function presentSagaDetail(detail: SagaDetail, url: SagaUrl): z.output<typeof sagaDetailShape> {
  const { saga, activities, next, notes, deployments, children, resolutionNote } = detail
  const presented = presentSaga(saga)
  return {
    ...presented,
    resolution: presented.resolution && { ...presented.resolution, note: resolutionNote },
    notes: notes.map(presentNote),
    deployments: deployments.map(({ id, projectId, environment, status }) => ({
      id,
      project_id: projectId,
      environment,
      status,
    })),
    children: children.newest.map(presentChild),
    children_counts: presentCounts(children.counts),
    events_url: url('events'),
    activities: activities.map((activity) => presentActivity(activity, url)),
    next_activities_cursor: next && writeActivityCursor(next),
  }
}
