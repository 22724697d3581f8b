import type { Caller } from '@switchyard/domain/access'
import { ownTenant } from '@switchyard/domain/access'
import { documented, endpoint, type Guard, ok, senderAddress } from '@switchyard/service-kit/http'
import { z } from 'zod'
import { type Peer, requireOwnTenant } from '../access/peer.js'
import { reporterOf } from '../access/reporter.js'
import type { ReportByCell } from '../cells/report-by-cell.js'
import { eventReplyShape, presentEventReply } from '../presenters/event-reply.js'
import { logFailures } from '../use-cases/report-events.js'
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
export const reportEvents = (report: ReportByCell) =>
  endpoint({
    summary: 'Report up to 1,000 events of sagas, each taken by itself',
    replies: { 200: z.object({ results: z.array(eventReplyShape) }) },
    input: jsonEventsShape,
    handle: async ({ events }, peer: Peer, call) => {
      const { request } = call.raw
      const { signal } = call
      const own = ownTenant(peer.tenants)
      const metadata = readHttpMetadata(request.headers, own)
      if (metadata.tenant !== own) requireOwnTenant(peer, metadata.tenant)
      const reports = readJsonReports(events, metadata)
      const sender = {
        headers: {
          'private-token': request.get('PRIVATE-TOKEN'),
          authorization: request.get('Authorization'),
        },
        isForwarded: false,
        metadata,
        signal,
      }
      const outcomes = await report(
        { reports, peer, address: senderAddress(request.ip), givenUp: () => signal.aborted },
        sender,
      )
      logFailures(outcomes, call.logger)
      return ok({ results: outcomes.map(presentEventReply) })
    },
  })
