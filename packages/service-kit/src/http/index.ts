export { createHttpApp, type HttpAppOptions, prefersHtml } from './app.js'
export {
  type Authenticate,
  type AuthenticateFrom,
  type Authenticator,
  callerOf,
  createAuthenticator,
  type FindCaller,
  type FindJob,
  hashToken,
  tokenKey,
  tokenOf,
} from './authentication.js'
export { arriving } from './body/arriving.js'
export { JsonText } from './body/kept-texts.js'
export type { LargeBody, ParseLargeBody } from './body/read-input.js'
export { startBytes } from './byte-range.js'
export {
  accepted,
  answered,
  type Call,
  created,
  documented,
  type Endpoint,
  endpoint,
  type Guard,
  type Method,
  noContent,
  ok,
  type Reply,
  type Route,
  type RouteOptions,
  redirect,
  refusingUnknown,
  route,
  versioned,
} from './endpoint.js'
export { type AnswerForm, errorText } from './errors.js'
export { answerHead, EventStream, EventStreams, eventText } from './event-stream.js'
export type { Forward } from './forwarding-router.js'
export { administrator, administratorOrScope, anyone, readingScopes, signedIn } from './guards.js'
export { type CreateLimiter, limitersOfProcess, limitersOfReplicas } from './limiters.js'
export { type HttpServer, listen } from './listen.js'
export { recheckRegularly } from './long-lived.js'
export { observe, observedOf } from './observe.js'
export { addOperations } from './operations.js'
export { fromOwnOrigin, requestedUrl } from './own-origin.js'
export {
  keysetParameters,
  keysetReply,
  linkOf,
  linkParameters,
  pageParameters,
  pageReply,
  rowsOf,
  takeWindow,
  type Window,
  windowOf,
} from './pagination.js'
export {
  bigRowId,
  decimal,
  emptyAs,
  filledText,
  flag,
  integer,
  link,
  list,
  oneOf,
  parameterProblem,
  pathCharsMax,
  proseCharsMax,
  readParameters,
  rowId,
  searchedText,
  text,
  textCharsMax,
  time,
  timeText,
  unsupported,
} from './parameters.js'
export { preconditionOf, unmodifiedSinceMs } from './precondition.js'
export { auditAuthor, inSlot, senderAddress, senderKey } from './sender.js'
export { clearSessionCookie, cookieOf, setSessionCookie } from './session-cookie.js'
export { createStreamSlots, type StreamSlots } from './stream-slots.js'
export { limitUnknownTokens } from './unknown-tokens.js'
export { WrittenJson, writeJson } from './written-json.js'
