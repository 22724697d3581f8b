import { isDeepStrictEqual } from 'node:util'
import {
  type AuditAuthor,
  type Database,
  type DatabaseOrTransaction,
  type FreezePeriod,
  inTransaction,
  type Rows,
  requireUnchanged,
} from '@switchyard/db'
import { lockProjectRow } from '@switchyard/db/sql'
import { invalid, notFound, type Precondition, refuseProblems } from '@switchyard/domain'
import { recordProjectEvent } from '../../audit/audit.js'
import type { ProjectCall } from '../../guards.js'
import { freezePeriodProblems } from './freeze-calendar.js'
import type { FreezePeriodFields } from './store.js'
import * as store from './store.js'

export { createFreezeCalendar, type FreezeCalendar, listedMs } from './freeze-calendar.js'

/** The number is limited because all of them are evaluated for each new deployment. */
const periodsPerProjectMax = 20

export async function listFreezePeriods(
  database: Database,
  { project }: ProjectCall,
  { skip, take }: Rows,
): Promise<{ periods: FreezePeriod[]; total: number }> {
  const periods = await store.listFreezePeriods(database, project.id)
  return { periods: periods.slice(skip, skip + take), total: periods.length }
}

/** @throws DomainError not-found */
export async function getFreezePeriod(
  database: DatabaseOrTransaction,
  { project }: ProjectCall,
  id: number,
): Promise<FreezePeriod> {
  const period = await store.findFreezePeriod(database, project.id, id)
  if (!period) throw notFound()
  return period
}

/**
 * @throws DomainError invalid, by field; invalid when the project has as many freeze periods as are allowed
 */
export async function addFreezePeriod(
  database: Database,
  { project }: ProjectCall,
  fields: FreezePeriodFields,
  author: AuditAuthor,
): Promise<FreezePeriod> {
  refuseProblems(freezePeriodProblems(fields))
  return inTransaction(database, async (transaction) => {
    if ((await store.lockAndCountFreezePeriods(transaction, project.id)) >= periodsPerProjectMax) {
      throw invalid(`A project can have ${periodsPerProjectMax} freeze periods at most`)
    }
    const period = await store.createFreezePeriod(transaction, project.id, fields)
    await recordProjectEvent(transaction, author, project.id, 'freeze_period_created', detailsOf(period))
    return period
  })
}

/**
 * Changes the given fields and keeps the other fields.
 *
 * @throws DomainError not-found; precondition-failed; invalid, by field
 */
export async function changeFreezePeriod(
  database: Database,
  access: ProjectCall,
  { id, changes }: { id: number; changes: Partial<FreezePeriodFields> },
  author: AuditAuthor,
  precondition?: Precondition,
): Promise<FreezePeriod> {
  const { id: projectId } = access.project
  return inTransaction(database, async (transaction) => {
    await lockProjectRow(transaction, projectId)
    await requireUnchanged(transaction, 'freeze_periods', { project_id: projectId, id }, precondition)
    const known = await getFreezePeriod(transaction, access, id)
    const fields = {
      freezeStart: changes.freezeStart ?? known.freezeStart,
      freezeEnd: changes.freezeEnd ?? known.freezeEnd,
      cronTimezone: changes.cronTimezone ?? known.cronTimezone,
    }
    refuseProblems(freezePeriodProblems(fields))
    if (isDeepStrictEqual(known, { ...known, ...fields })) return known
    const period = await store.updateFreezePeriod(transaction, projectId, id, fields)
    if (!period) throw notFound()
    await recordProjectEvent(transaction, author, projectId, 'freeze_period_changed', detailsOf(period))
    return period
  })
}

/** @throws DomainError not-found; precondition-failed */
export async function removeFreezePeriod(
  database: Database,
  { project }: ProjectCall,
  id: number,
  author: AuditAuthor,
  precondition?: Precondition,
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    await requireUnchanged(transaction, 'freeze_periods', { project_id: project.id, id }, precondition)
    if (!(await store.deleteFreezePeriod(transaction, project.id, id))) throw notFound()
    await recordProjectEvent(transaction, author, project.id, 'freeze_period_removed', {
      freeze_period_id: id,
    })
  })
}

const detailsOf = ({ id, freezeStart, freezeEnd, cronTimezone }: FreezePeriod) => ({
  freeze_period_id: id,
  freeze_start: freezeStart,
  freeze_end: freezeEnd,
  cron_timezone: cronTimezone,
})
