export type { GitService, GitSession } from './git-session.js'
export { packetLine } from './packet-lines.js'
export { servePush } from './serve-push.js'
export { advertiseRefs, serveFetch } from './smart-http.js'
