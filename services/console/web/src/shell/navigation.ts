import type { Area } from '../api/session'

/**
 * The links of the navigation, in their order, with the area that a session needs for each. One that leads to `others` is current on
 * these pages, too.
 */
export const navigation = [
  { to: '/', name: 'Overview', area: undefined },
  { to: '/sagas', name: 'Sagas', area: 'sagas', others: ['/commands', '/bulk-jobs', '/saga-webhooks'] },
  { to: '/failures', name: 'Failures', area: 'sagas' },
  { to: '/projects', name: 'Projects', area: 'projects' },
  { to: '/services', name: 'Services', area: 'projects' },
  { to: '/broadcasts', name: 'Broadcasts', area: 'broadcasts' },
  { to: '/queues', name: 'Queues', area: 'queues' },
  { to: '/admin/users', name: 'Users', area: 'users' },
  { to: '/admin/tokens', name: 'Tokens', area: 'tokens' },
  { to: '/admin/audit', name: 'Audit log', area: 'audit' },
  { to: '/system', name: 'System', area: 'system' },
  { to: '/docs', name: 'Docs', area: undefined },
] as const satisfies { to: string; name: string; area: Area | undefined; others?: string[] }[]
