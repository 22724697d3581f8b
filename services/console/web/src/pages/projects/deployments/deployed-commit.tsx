import type { ReactNode } from 'react'
import { useMay } from '../../../api/session'
import { TextLink } from '../../../components/text-link'
import type { Deployment } from '../../../generated/types.gen'
import { projectParams, shortSha } from '../../../lib/format'

interface InProject {
  deployment: Deployment
  /** The path of the deployment's project: 'root/shop'. */
  project: string
}

/** The commit of a deployment, and its branch or tag. */
export function DeployedCommit({ deployment: { sha, ref, tag }, project }: InProject) {
  return (
    <span className="flex flex-wrap gap-x-2 font-mono text-[13px]">
      <TextLink
        to="/projects/$namespace/$name/commits/$sha"
        params={{ ...projectParams(project), sha }}
        className="whitespace-nowrap"
      >
        {shortSha(sha)}
      </TextLink>
      <span dir="auto" className="text-quiet">
        {tag ? `tag ${ref}` : ref}
      </span>
    </span>
  )
}

/** The saga that deploys. */
export function DeployingSaga({ deployment: { saga_id, saga_tenant } }: { deployment: Deployment }) {
  const maySeeSagas = useMay('sagas')
  if (!saga_id) return <span className="text-quiet">–</span>
  if (!maySeeSagas) return <span dir="auto">{saga_id}</span>
  return (
    <TextLink
      to="/sagas/$sagaId"
      params={{ sagaId: saga_id }}
      search={{ tenant: saga_tenant && saga_tenant !== 'default' ? saga_tenant : undefined }}
      dir="auto"
    >
      {saga_id}
    </TextLink>
  )
}

/**
 * @param children unset: the number of the deployment
 * @param inText whether it is inside a text, where colour alone would not distinguish it
 */
export const DeploymentLink = ({
  deployment: { id, iid },
  project,
  children = `#${iid}`,
  inText = false,
}: {
  deployment: Pick<Deployment, 'id' | 'iid'>
  project: string
  children?: ReactNode
  inText?: boolean
}) => (
  <TextLink
    className={inText ? 'underline' : ''}
    to="/projects/$namespace/$name/deployments/$deploymentId"
    params={{ ...projectParams(project), deploymentId: String(id) }}
  >
    {children}
  </TextLink>
)
