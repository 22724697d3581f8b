import { CopyButton } from '../../components/copy-button'
import { Page, Panel } from '../../components/page'

const links = [
  {
    href: '/api/v4/docs',
    name: 'API reference',
    text: 'Every endpoint, to read and to try.',
  },
  {
    href: '/api/v4/openapi.json',
    name: 'API document (OpenAPI 3.1)',
    text: 'Every endpoint of every service, with its parameters, answers and refusals. Load it into any client or generator.',
  },
  {
    href: '/console/runbooks/README',
    name: 'Runbooks',
    text: 'What to do when an alert fires.',
  },
  {
    href: '/api/v4/version',
    name: 'Version',
    text: 'What runs here.',
  },
]

const keys = [
  [
    'GitLab clients',
    () => location.origin,
    'The address that a client asks for. Make it a token on the page Tokens.',
  ],
  ['curl', () => `curl -H "PRIVATE-TOKEN: $TOKEN" ${location.origin}/api/v4/projects`],
  ['git', () => `git clone ${location.origin}/root/demo.git`],
] satisfies [name: string, command: () => string, hint?: string][]

export const DocsPage = () => (
  <Page title="Docs">
    <Panel name="Reference">
      <ul className="grid gap-3">
        {links.map(({ href, name, text }) => (
          <li key={href}>
            <a href={href} className="text-accent hover:underline">
              {name}
            </a>
            <p className="text-sm text-quiet">{text}</p>
          </li>
        ))}
      </ul>
    </Panel>
    <Panel name="Connect">
      <dl className="grid gap-3">
        {keys.map(([name, command, hint]) => (
          <div key={name}>
            <dt className="text-sm font-medium">{name}</dt>
            <dd className="flex flex-wrap items-center gap-2">
              <code className="min-w-0 basis-full overflow-x-auto rounded bg-raised px-2 py-1 text-sm wrap-anywhere sm:flex-1 sm:basis-0">
                {command()}
              </code>
              <CopyButton label={`Copy for ${name}`} text={command} />
            </dd>
            {hint && <dd className="text-sm text-quiet">{hint}</dd>}
          </div>
        ))}
      </dl>
    </Panel>
  </Page>
)
