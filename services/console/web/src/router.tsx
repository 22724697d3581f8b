import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { sessionQuery } from './api/session'
import { Failed, Loading, NotFound } from './components/states'
import { keep, parseSearch, writeSearch } from './lib/search-params'
import { Shell } from './shell/shell'

const basepath = '/console'

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  async beforeLoad({ context, location }) {
    const session = await context.queryClient.ensureQueryData(sessionQuery)
    if (session.user || location.pathname.replace(/\/$/, '') === '/sign-in') return
    throw redirect({ to: '/sign-in', search: { next: basepath + location.href }, replace: true })
  },
  component: () => (
    <Shell>
      <Outlet />
    </Shell>
  ),
  errorComponent: Failed,
  notFoundComponent: NotFound,
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: keep('next', 'problem', 'by'),
  component: lazyRouteComponent(() => import('./pages/sign-in/sign-in-page'), 'SignInPage'),
})

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: keep('hours'),
  component: lazyRouteComponent(() => import('./pages/overview/overview-page'), 'OverviewPage'),
})

const sagas = createRoute({
  getParentRoute: () => root,
  path: '/sagas',
  validateSearch: keep(
    'status',
    'outcome',
    'service',
    'q',
    'flag',
    'fingerprint',
    'parent',
    'tenant',
    'from',
    'to',
    'sort',
    'view',
    'job',
  ),
  component: lazyRouteComponent(() => import('./pages/sagas/saga-list-page'), 'SagaListPage'),
})

const saga = createRoute({
  getParentRoute: () => root,
  path: '/sagas/$sagaId',
  validateSearch: keep('tenant', 'tab', 'activity'),
  component: lazyRouteComponent(() => import('./pages/sagas/saga-page'), 'SagaPage'),
})

const failures = createRoute({
  getParentRoute: () => root,
  path: '/failures',
  validateSearch: keep('service', 'tenant', 'from', 'to', 'fingerprint', 'job'),
  component: lazyRouteComponent(() => import('./pages/sagas/failures-page'), 'FailuresPage'),
})

const bulkJobs = createRoute({
  getParentRoute: () => root,
  path: '/bulk-jobs',
  validateSearch: keep('tenant', 'page', 'job'),
  component: lazyRouteComponent(() => import('./pages/sagas/bulk-jobs-page'), 'BulkJobsPage'),
})

const commands = createRoute({
  getParentRoute: () => root,
  path: '/commands',
  validateSearch: keep('tenant', 'state', 'batch', 'page'),
  component: lazyRouteComponent(() => import('./pages/sagas/commands-page'), 'CommandsPage'),
})

const sagaWebhooks = createRoute({
  getParentRoute: () => root,
  path: '/saga-webhooks',
  validateSearch: keep('tenant', 'hook', 'page', 'webhooks'),
  component: lazyRouteComponent(() => import('./pages/webhooks/saga-webhooks-page'), 'SagaWebhooksPage'),
})

const projects = createRoute({
  getParentRoute: () => root,
  path: '/projects',
  validateSearch: keep('q', 'sort', 'page'),
  component: lazyRouteComponent(() => import('./pages/projects/project-list-page'), 'ProjectListPage'),
})

const project = createRoute({
  getParentRoute: () => root,
  path: '/projects/$namespace/$name',
  component: lazyRouteComponent(() => import('./pages/projects/project-frame'), 'ProjectFrame'),
})

const projectCommits = createRoute({
  getParentRoute: () => project,
  path: '/',
  validateSearch: keep('ref', 'path', 'author', 'q', 'page'),
  component: lazyRouteComponent(() => import('./pages/projects/commits/commit-list-page'), 'CommitListPage'),
})

const projectCommit = createRoute({
  getParentRoute: () => project,
  path: '/commits/$sha',
  validateSearch: keep('view', 'path'),
  component: lazyRouteComponent(() => import('./pages/projects/commits/commit-page'), 'CommitPage'),
})

const projectFiles = createRoute({
  getParentRoute: () => project,
  path: '/files/$ref/$',
  validateSearch: keep('view'),
  component: lazyRouteComponent(() => import('./pages/projects/files/files-page'), 'FilesPage'),
})

const newCommit = createRoute({
  getParentRoute: () => project,
  path: '/new-commit',
  validateSearch: keep('ref', 'path'),
  component: lazyRouteComponent(() => import('./pages/projects/new-commit/new-commit-page'), 'NewCommitPage'),
})

const branches = createRoute({
  getParentRoute: () => project,
  path: '/branches',
  validateSearch: keep('q', 'page', 'tagsPage'),
  component: lazyRouteComponent(() => import('./pages/projects/branches/branches-page'), 'BranchesPage'),
})

const compare = createRoute({
  getParentRoute: () => project,
  path: '/compare',
  validateSearch: keep('from', 'to', 'view'),
  component: lazyRouteComponent(() => import('./pages/projects/compare-page'), 'ComparePage'),
})

const deployments = createRoute({
  getParentRoute: () => project,
  path: '/deployments',
  validateSearch: keep('environment', 'status', 'page', 'q', 'environments', 'freeze_periods'),
  component: lazyRouteComponent(
    () => import('./pages/projects/deployments/deployments-page'),
    'DeploymentsPage',
  ),
})

const deployment = createRoute({
  getParentRoute: () => project,
  path: '/deployments/$deploymentId',
  component: lazyRouteComponent(
    () => import('./pages/projects/deployments/deployment-page'),
    'DeploymentPage',
  ),
})

const delivery = createRoute({
  getParentRoute: () => project,
  path: '/delivery',
  validateSearch: keep('environment', 'tier', 'weeks'),
  component: lazyRouteComponent(() => import('./pages/projects/delivery/delivery-page'), 'DeliveryPage'),
})

const pipelines = createRoute({
  getParentRoute: () => project,
  path: '/pipelines',
  validateSearch: keep('ref', 'status', 'page'),
  component: lazyRouteComponent(() => import('./pages/projects/pipelines/pipelines-page'), 'PipelinesPage'),
})

const pipeline = createRoute({
  getParentRoute: () => project,
  path: '/pipelines/$pipelineId',
  validateSearch: keep('page'),
  component: lazyRouteComponent(() => import('./pages/projects/pipelines/pipeline-page'), 'PipelinePage'),
})

const releases = createRoute({
  getParentRoute: () => project,
  path: '/releases',
  validateSearch: keep('page'),
  component: lazyRouteComponent(() => import('./pages/projects/releases/releases-page'), 'ReleasesPage'),
})

const settings = createRoute({
  getParentRoute: () => project,
  path: '/settings',
  validateSearch: keep(
    'hook',
    'rule',
    'page',
    'members',
    'protected_branches',
    'protected_tags',
    'hooks',
    'impact_rules',
    'deploy_tokens',
    'access_tokens',
  ),
  component: lazyRouteComponent(() => import('./pages/projects/settings/settings-page'), 'SettingsPage'),
})

const services = createRoute({
  getParentRoute: () => root,
  path: '/services',
  validateSearch: keep('q', 'page'),
  component: lazyRouteComponent(() => import('./pages/services/services-page'), 'ServicesPage'),
})

const service = createRoute({
  getParentRoute: () => root,
  path: '/services/$service',
  validateSearch: keep('tenant'),
  component: lazyRouteComponent(() => import('./pages/services/service-page'), 'ServicePage'),
})

const broadcasts = createRoute({
  getParentRoute: () => root,
  path: '/broadcasts',
  validateSearch: keep('edit', 'page'),
  component: lazyRouteComponent(() => import('./pages/broadcasts/broadcasts-page'), 'BroadcastsPage'),
})

const queues = createRoute({
  getParentRoute: () => root,
  path: '/queues',
  validateSearch: keep('range'),
  component: lazyRouteComponent(() => import('./pages/queues/queues-page'), 'QueuesPage'),
})

const queue = createRoute({
  getParentRoute: () => root,
  path: '/queues/$source/$queue',
  validateSearch: keep('range', 'page', 'job'),
  component: lazyRouteComponent(() => import('./pages/queues/queue-page'), 'QueuePage'),
})

const account = createRoute({
  getParentRoute: () => root,
  path: '/account',
  validateSearch: keep('page'),
  component: lazyRouteComponent(() => import('./pages/account/account-page'), 'AccountPage'),
})

const device = createRoute({
  getParentRoute: () => root,
  path: '/device',
  validateSearch: keep('user_code'),
  component: lazyRouteComponent(() => import('./pages/account/device-page'), 'DevicePage'),
})

const users = createRoute({
  getParentRoute: () => root,
  path: '/admin/users',
  validateSearch: keep('q', 'page', 'active', 'blocked', 'order_by', 'sort'),
  component: lazyRouteComponent(() => import('./pages/admin/users-page'), 'UsersPage'),
})

const tokens = createRoute({
  getParentRoute: () => root,
  path: '/admin/tokens',
  validateSearch: keep('q', 'page', 'state', 'user_id', 'sort'),
  component: lazyRouteComponent(() => import('./pages/admin/tokens-page'), 'TokensPage'),
})

const audit = createRoute({
  getParentRoute: () => root,
  path: '/admin/audit',
  validateSearch: keep(
    'q',
    'page_token',
    'entity_type',
    'entity_id',
    'author_id',
    'event_name',
    'created_after',
    'created_before',
  ),
  component: lazyRouteComponent(() => import('./pages/admin/audit-page'), 'AuditPage'),
})

const system = createRoute({
  getParentRoute: () => root,
  path: '/system',
  component: lazyRouteComponent(() => import('./pages/system/system-page'), 'SystemPage'),
})

const docs = createRoute({
  getParentRoute: () => root,
  path: '/docs',
  component: lazyRouteComponent(() => import('./pages/system/docs-page'), 'DocsPage'),
})

const runbook = createRoute({
  getParentRoute: () => root,
  path: '/runbooks/$page',
  component: lazyRouteComponent(() => import('./pages/system/runbook-page'), 'RunbookPage'),
})

const routeTree = root.addChildren([
  signIn,
  overview,
  sagas,
  saga,
  failures,
  bulkJobs,
  commands,
  sagaWebhooks,
  projects,
  project.addChildren([
    projectCommits,
    projectCommit,
    projectFiles,
    newCommit,
    branches,
    compare,
    pipelines,
    pipeline,
    deployments,
    deployment,
    delivery,
    releases,
    settings,
  ]),
  services,
  service,
  broadcasts,
  queues,
  queue,
  account,
  device,
  users,
  tokens,
  audit,
  system,
  docs,
  runbook,
])

export const makeRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree,
    basepath,
    context: { queryClient },
    parseSearch,
    stringifySearch: writeSearch,
    defaultPreload: 'intent',
    defaultPendingComponent: Loading,
    defaultErrorComponent: Failed,
    scrollRestoration: true,
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>
  }
}
