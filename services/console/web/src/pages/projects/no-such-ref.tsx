import { Empty } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { useProject, useProjectParams } from './project-frame'

export function NoSuchRef({ name }: { name: string }) {
  const params = useProjectParams()
  const { default_branch } = useProject()
  return (
    <Empty title={`There is no branch, tag or commit ‘${name}’.`}>
      Choose another one, or go to{' '}
      <TextLink to="/projects/$namespace/$name" params={params} search={{ ref: default_branch }}>
        {default_branch}
      </TextLink>
      .
    </Empty>
  )
}
