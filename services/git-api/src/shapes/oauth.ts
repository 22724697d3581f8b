import { type AnswerForm, errorText, ok, type Reply } from '@switchyard/service-kit/http'

/** Errors in the form of OAuth 2.0 (RFC 6749, 5.2). */
export const oauthAnswers: AnswerForm = {
  mediaType: 'application/json',
  presentError({ status, body, headers }) {
    const isGrant = 'message' in body
    const isOver = status === 429 || status >= 500
    const code = isGrant && status === 400 ? 'invalid_grant' : 'invalid_request'
    const error = isOver ? 'temporarily_unavailable' : code
    const described = { error, error_description: errorText(body), request_id: body.request_id }
    return { status, body: described, ...(headers && { headers }) }
  },
}

const noStore = { 'Cache-Control': 'no-store' }

/** Returns an answer of OAuth 2.0, which must not be cached. */
export const oauthReply = (body: object): Reply => ok(body, noStore)

export const oauthRefusal = (error: string, description: string): Reply => ({
  status: 400,
  body: { error, error_description: description },
  headers: noStore,
})
