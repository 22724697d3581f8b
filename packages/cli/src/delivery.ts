import { postedStates } from '@switchyard/domain/commit-status'
import { Argument, type Command, Option } from 'commander'
import { dataOf, type Schemas } from './api.js'
import { exitCodes, Failure } from './failure.js'
import { facts, oneLine } from './output.js'
import { examples, number, projectOption, say, sessionOf, wholeNumber } from './session.js'

type StatusBody = Schemas['PostProjectsByIdStatusesByShaBody']
type DeploymentBody = Schemas['PostProjectsByIdDeploymentsBody']

const finalStates = ['success', 'failed', 'canceled'] as const

/** Adds `status` and `deploy`, by which a pipeline reports. */
export function addDeliveryCommands(program: Command): void {
  const status = program.command('status').description('Report the status of builds and checks of commits')
  status
    .command('post')
    .argument('<commit>', 'SHA, branch or tag')
    .addArgument(new Argument('<state>', 'of the build or check').choices(postedStates))
    .description('Set the status of a build or check of a commit')
    .addOption(projectOption())
    .option('-n, --name <name>', 'of the build or check')
    .option('--ref <ref>', 'branch or tag that is built')
    .option('--target-url <url>', 'page of the build')
    .option('--description <text>', 'a sentence about it')
    .option('--coverage <percent>', 'of the tests', number)
    .option('--pipeline-id <id>', 'the pipeline that it belongs to', wholeNumber)
    .addHelpText(
      'after',
      examples(
        'status post "$GITHUB_SHA" running -p ada/engine --name build',
        'status post main success -p ada/engine --name tests --coverage 91.5 --target-url https://ci.example.com/7',
      ),
    )
    .action(postStatus)
  addDeployCommands(program)
}

function addDeployCommands(program: Command): void {
  const deploy = program.command('deploy').description('Report deployments to environments')
  deploy
    .command('start')
    .argument('<environment>', 'its name; it is made when there is none')
    .description('Create a running deployment, and print its id')
    .addOption(projectOption())
    .requiredOption('--sha <sha>', 'commit that is deployed')
    .requiredOption('--ref <ref>', 'branch or tag that is deployed')
    .option('--tag', 'the ref is a tag')
    .option('--service <service...>', 'that it ships, as sagas and queues name it; may be repeated')
    .option('--saga-id <saga>', 'saga that does the deployment')
    .option('--saga-tenant <tenant>', 'tenant of that saga')
    .option('--enforce', 'refuse it while the environment is frozen')
    .addHelpText(
      'after',
      `\nWithout --json the id stands alone on standard output, for "deploy finish".\n${examples(
        'deploy start production -p ada/engine --sha "$GITHUB_SHA" --ref main --enforce',
        'deploy start production -p ada/engine --sha "$GITHUB_SHA" --ref main --service booking --service billing',
      )}`,
    )
    .action(startDeployment)
  deploy
    .command('finish')
    .argument('<id>', 'of the deployment', wholeNumber)
    .description('Say how a deployment ended')
    .addOption(projectOption())
    .addOption(new Option('--status <status>', 'how it ended').choices(finalStates).default('success'))
    .addHelpText(
      'after',
      examples('deploy finish 41 -p ada/engine', 'deploy finish 41 -p ada/engine --status failed'),
    )
    .action(finishDeployment)
}

interface StatusOptions extends Omit<StatusBody, 'state' | 'target_url' | 'pipeline_id'> {
  project: string
  targetUrl?: string
  pipelineId?: number
}

async function postStatus(sha: string, state: StatusBody['state'], options: StatusOptions, command: Command) {
  const { api, show } = sessionOf(command)
  const { project: id, name, ref, description, coverage } = options
  const body = {
    state,
    name,
    ref,
    description,
    coverage,
    target_url: options.targetUrl,
    pipeline_id: options.pipelineId,
  }
  const set = await dataOf(api.POST('/projects/{id}/statuses/{sha}', { params: { path: { id, sha } }, body }))
  show(
    set,
    facts({ commit: set.sha, name: set.name, status: set.status, ref: set.ref, pipeline: set.pipeline_id }),
  )
}

interface DeployOptions extends Pick<DeploymentBody, 'sha' | 'ref' | 'tag' | 'enforce'> {
  project: string
  sagaId?: string
  sagaTenant?: string
  service?: string[]
}

async function startDeployment(environment: string, options: DeployOptions, command: Command) {
  const { api, show } = sessionOf(command)
  const { project: id, sha, ref, tag = false, enforce, sagaId, sagaTenant } = options
  const body = {
    environment,
    sha,
    ref,
    tag,
    enforce,
    status: 'running' as const,
    saga_id: sagaId,
    saga_tenant: sagaTenant,
    services: options.service,
  }
  const made = await dataOf(api.POST('/projects/{id}/deployments', { params: { path: { id } }, body }))
  show(made, String(made.id))
  const shipped = made.services.length > 0 ? ` with ${made.services.map(oneLine).join(', ')}` : ''
  say(
    `✓ deployment ${made.id} of ${oneLine(made.sha)} to ${oneLine(made.environment.name)}${shipped} is running`,
  )
  if (made.frozen)
    say(
      `• ${oneLine(made.environment.name)} is frozen, by a freeze period or by a rule: with --enforce the deployment is refused, and the refusal says why`,
    )
}

/**
 * Explains a 400 as a refusal of the status. The id and the status are checked before they are sent, so the
 * server can only refuse that this status follows; it does so with 400, as GitLab does.
 */
const aboutState = (error: unknown): unknown =>
  error instanceof Failure && error.exitCode === exitCodes.usage
    ? new Failure(error.message, exitCodes.conflict)
    : error

type FinishOptions = { project: string; status: (typeof finalStates)[number] }

async function finishDeployment(
  deploymentId: number,
  { project: id, status }: FinishOptions,
  command: Command,
) {
  const { api, show } = sessionOf(command)
  const path = { id, deployment_id: deploymentId }
  const changed = await dataOf(
    api.PUT('/projects/{id}/deployments/{deployment_id}', { params: { path }, body: { status } }),
  ).catch((error: unknown) => {
    throw aboutState(error)
  })
  const { environment, sha, status: ended, services } = changed
  const said = { deployment: changed.id, environment: environment.name, status: ended, commit: sha }
  show(changed, facts({ ...said, services: services.join(', ') }))
}
