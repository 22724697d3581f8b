export { createHttpApp, type HttpAppOptions } from './app.js'
export { auditAuthor } from './audit-author.js'
export {
  type Authenticate,
  callerOf,
  createAuthenticate,
  type FindCaller,
  hashToken,
  tokenOf,
} from './authentication.js'
export {
  accepted,
  type Call,
  created,
  type Documentation,
  documented,
  type Endpoint,
  endpoint,
  type Guard,
  noContent,
  ok,
  type Reply,
  type Route,
  route,
  streamed,
} from './endpoint.js'
export { administrator, administratorOrScope, anyone, readingScopes, signedIn } from './guards.js'
export { LongText } from './large-json.js'
export { type HttpServer, listen } from './listen.js'
export { linkOf, linkParameters, type Page, pageParameters, pageReply, rowsOf } from './pagination.js'
export {
  decimal,
  filledText,
  flag,
  integer,
  parameterProblem,
  readParameters,
  rowId,
  text,
  time,
} from './parameters.js'
export { link, oneOf, timeText } from './shapes.js'
export { WrittenJson, writeJson } from './written-json.js'
