import { useMay } from '../../../api/session'
import { TextLink } from '../../../components/text-link'
import type { Deployment } from '../../../generated/types.gen'
import { shortSha } from '../../../lib/format'
import { useProjectParams } from '../project-frame'

/** The commit of a deployment, and the branch or tag that it was taken from. */
export function DeployedCommit({ deployment: { sha, ref, tag } }: { deployment: Deployment }) {
  const params = useProjectParams()
  return (
    <span className="flex flex-wrap gap-x-2 font-mono text-[13px]">
      <TextLink
        to="/projects/$namespace/$name/commits/$sha"
        params={{ ...params, sha }}
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

export function DeploymentLink({ id, iid }: Pick<Deployment, 'id' | 'iid'>) {
  const params = useProjectParams()
  return (
    <TextLink
      to="/projects/$namespace/$name/deployments/$deploymentId"
      params={{ ...params, deploymentId: String(id) }}
    >
      #{iid}
    </TextLink>
  )
}
