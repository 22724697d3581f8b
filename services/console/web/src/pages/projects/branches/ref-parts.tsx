import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { send } from '../../../api/client'
import { ActionDialog, textOf } from '../../../components/action-dialog'
import { TextArea, TextField } from '../../../components/fields'
import { TextLink } from '../../../components/text-link'
import { Time } from '../../../components/time'
import type { Commit } from '../../../generated/types.gen'
import { shortSha } from '../../../lib/format'
import { useProject, useProjectParams, useProjectPath } from '../project-frame'
import { RefField } from '../ref-field'

export function RefName({ name }: { name: string }) {
  return (
    <TextLink
      to="/projects/$namespace/$name"
      params={useProjectParams()}
      search={{ ref: name }}
      dir="auto"
      className="font-mono text-[13px] break-all"
    >
      {name}
    </TextLink>
  )
}

export function LastCommitCell({ commit }: { commit: Commit | null }) {
  const params = useProjectParams()
  if (!commit) return <span className="text-quiet">Not a commit</span>
  return (
    <span className="flex flex-wrap gap-x-3">
      <TextLink
        to="/projects/$namespace/$name/commits/$sha"
        params={{ ...params, sha: commit.id }}
        dir="auto"
        className="max-w-md"
      >
        {commit.title || shortSha(commit.id)}
      </TextLink>
      <span className="text-quiet">
        <Time at={commit.committed_date} />
      </span>
    </span>
  )
}

export function RefLinks({ name }: { name: string }) {
  const params = useProjectParams()
  const { default_branch } = useProject()
  return (
    <>
      <TextLink to="/projects/$namespace/$name/files/$ref/$" params={{ ...params, ref: name, _splat: '' }}>
        Files
      </TextLink>
      {name !== default_branch && (
        <TextLink
          to="/projects/$namespace/$name/compare"
          params={params}
          search={{ from: default_branch, to: name }}
        >
          Compare
        </TextLink>
      )}
    </>
  )
}

export function NewRefDialog({ kind, onClose }: { kind: 'branches' | 'tags'; onClose: () => void }) {
  const client = useQueryClient()
  const project = useProjectPath()
  const [from, setFrom] = useState(useProject().default_branch)
  const create = async (form: FormData) => {
    const name = textOf(form, 'name')
    const body =
      kind === 'branches'
        ? { branch: name, ref: from }
        : { tag_name: name, ref: from, message: textOf(form, 'message') || undefined }
    await send('POST', `${project}/repository/${kind}`, body)
    await client.invalidateQueries({ queryKey: [project] })
    onClose()
  }
  return (
    <ActionDialog
      title={kind === 'branches' ? 'New branch' : 'New tag'}
      action="Create"
      run={create}
      onClose={onClose}
    >
      <TextField label="Name" name="name" required maxLength={255} autoFocus className="font-mono text-sm" />
      <RefField
        label="From"
        required
        value={from}
        onChange={setFrom}
        hint="A branch, a tag, or the id of a commit"
      />
      {kind === 'tags' && (
        <TextArea
          label="Message"
          name="message"
          rows={2}
          hint="With a message the tag is an annotated one."
        />
      )}
    </ActionDialog>
  )
}
