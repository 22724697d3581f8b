import { mayUse, useSession } from '../../api/session'
import { CopyButton } from '../../components/copy-button'
import { Panel } from '../../components/page'
import { TextLink } from '../../components/text-link'

const origin = location.origin

/**
 * @param username owner of the project that the first step creates
 * @param hasSagas whether the user may report sagas
 */
const stepsOf = (username: string, hasSagas: boolean) => [
  {
    name: 'Create a project',
    command: `curl -H "PRIVATE-TOKEN: $TOKEN" ${origin}/api/v4/projects -d name=demo`,
  },
  {
    name: 'Push a repository',
    command: `git push ${origin}/${username}/demo.git HEAD:main`,
  },
  {
    name: 'Report the status of a commit',
    command: `curl -H "PRIVATE-TOKEN: $TOKEN" ${origin}/api/v4/projects/${username}%2Fdemo/statuses/$SHA -d state=success -d name=build`,
  },
  ...(hasSagas
    ? [
        {
          name: 'Report a saga',
          command: `curl -H "PRIVATE-TOKEN: $TOKEN" -H "Content-Type: application/json" ${origin}/api/v4/saga_events -d '{"events":[{"operation":"SagaStarted","event_id":"first-1","saga_id":"first","service_name":"booking"}]}'`,
        },
      ]
    : []),
]

/** Commands to copy, with the address of this installation, for an installation without a project. */
export function FirstSteps() {
  const session = useSession()
  const steps = stepsOf(session.user?.username ?? '', mayUse(session, 'sagas'))
  return (
    <Panel name="First steps">
      <p className="mb-3">
        Nothing is here yet. Make a token on the page <TextLink to="/admin/tokens">Tokens</TextLink>, put it
        into <code>TOKEN</code>, and try these commands:
      </p>
      <ol className="grid gap-3">
        {steps.map(({ name, command }) => (
          <li key={name}>
            <h3 className="mb-1 text-sm font-medium">{name}</h3>
            <div className="flex flex-wrap items-center gap-2">
              <code className="min-w-0 flex-1 overflow-x-auto rounded bg-raised px-2 py-1 text-sm whitespace-pre">
                {command}
              </code>
              <CopyButton label={`Copy: ${name}`} text={() => command} />
            </div>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
