import type { Caller } from '@switchyard/domain/access'
import { ownTenant } from '@switchyard/domain/access'
import { documented, endpoint, type Guard, ok, senderAddress } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { type Peer, requireOwnTenant } from '../access/peer.js'
import { reporterOf } from '../access/reporter.js'
import { eventReplyShape, presentEventReply } from '../presenters/event-reply.js'
import { logFailures, type ReportEvents } from '../use-cases/report-events.js'
import { jsonEventsShape, readHttpMetadata, readJsonReports } from '../wire/json-events.js'

/**
 * Tokens that may report.
 *
 * @param isForCertificates senders are known by their certificates, which no request over HTTP carries
 */
export const reporter = (isForCertificates: boolean): Guard<Peer> =>
  documented(
    { who: 'administrators, and tokens with the scope `saga_report`' },
    ({ caller }: { caller: Caller | null }) => reporterOf(caller, isForCertificates),
  )

/** `POST /saga_events` */
export const reportEvents = (report: ReportEvents) =>
  endpoint({
    summary: 'Report up to 1,000 events of sagas, each taken by itself',
    replies: { 200: z.object({ results: z.array(eventReplyShape) }) },
    input: jsonEventsShape,
    handle: async ({ events }, peer: Peer, call) => {
      const { signal } = call
      const own = ownTenant(peer.tenants)
      const metadata = readHttpMetadata(call.raw.request.headers, own)
      if (metadata.tenant !== own) requireOwnTenant(peer, metadata.tenant)
      const reports = readJsonReports(events, metadata)
      const address = senderAddress(call.raw.request.ip)
      const outcomes = await report({ reports, peer, address, givenUp: () => signal.aborted })
      logFailures(outcomes, call.logger)
      return ok({ results: outcomes.map(presentEventReply) })
    },
  })
