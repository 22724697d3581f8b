import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { addressOf, segment } from '../../../api/client'
import { ActionDialog } from '../../../components/action-dialog'
import { Badge } from '../../../components/badge'
import { Button } from '../../../components/button'
import { CheckboxField } from '../../../components/fields'
import { FileButton, FileDrop, UploadList } from '../../../components/upload-parts'
import { useUploads } from '../../../components/use-uploads'
import type { Release, ReleaseLink } from '../../../generated/types.gen'
import { bytes, isWebAddress, visibleControls } from '../../../lib/format'
import { useHasRole, useMayChange } from '../project-data'
import { useProjectPath } from '../project-frame'
import { linkTypes, packageAddressOf } from './release-names'
import { discardReleaseFile, removeReleaseFile, storeReleaseFile } from './store-file'

/** The files of a release. Callers who may push add files, and maintainers remove them. */
export function ReleaseFiles({ release }: { release: Release }) {
  const mayAdd = useMayChange('developer')
  const list = <FileList release={release} />
  return (
    <div className="mt-3 border-t pt-3">
      {mayAdd ? <WithUpload release={release}>{list}</WithUpload> : list}
    </div>
  )
}

function WithUpload({
  release: { tag_name: tag },
  children,
}: {
  release: Release
  children: React.ReactNode
}) {
  const project = useProjectPath()
  const client = useQueryClient()
  const [type, setType] = useState<ReleaseLink['link_type']>('package')
  const uploads = useUploads(
    async (file, transfer) => {
      await storeReleaseFile({ project, tag }, file, type, transfer)
      await client.invalidateQueries({ queryKey: [project, 'releases'] })
    },
    (file) => discardReleaseFile({ project, tag }, file),
  )
  return (
    <FileDrop label={`Files of ${tag}`} onFiles={uploads.add}>
      {children}
      <div className="mt-3 flex flex-wrap items-center gap-2 text-sm">
        <FileButton aria-label={`Upload files to ${tag}`} onFiles={uploads.add}>
          Upload files…
        </FileButton>
        <label className="flex items-center gap-2">
          <span className="text-quiet">as</span>
          <select
            aria-label={`Kind of the files uploaded to ${tag}`}
            value={type}
            onChange={({ target }) => setType(linkTypes.find((each) => each === target.value) ?? 'other')}
            className="min-h-8 rounded-md border bg-panel px-2 py-1"
          >
            {linkTypes.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <span className="text-quiet">or drop them here.</span>
      </div>
      <UploadList {...uploads} />
    </FileDrop>
  )
}

function FileList({ release }: { release: Release }) {
  const { links, sources = [] } = release.assets
  const mayPush = useMayChange('developer')
  const isMaintainer = useHasRole('maintainer')
  const [removed, setRemoved] = useState<ReleaseLink>()
  const shown = links.filter(({ url }) => isWebAddress(url)).reverse()
  if (shown.length + sources.length === 0) return null
  return (
    <ul aria-label="Assets" className="flex flex-col gap-2 text-sm">
      {shown.map((link) => (
        <li key={link.id} className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <LinkedFile link={link} tag={release.tag_name} />
          {mayPush && isMaintainer && (
            <Button aria-label={`Remove ${visibleControls(link.name)}`} onClick={() => setRemoved(link)}>
              Remove
            </Button>
          )}
        </li>
      ))}
      {sources.length > 0 && (
        <li className="flex flex-wrap gap-x-4 gap-y-1">
          {sources.map(({ format, url }) => (
            <a key={format} href={url} rel="noreferrer" className="text-accent hover:underline">
              Source code ({format})
            </a>
          ))}
        </li>
      )}
      {removed && (
        <RemoveDialog link={removed} tag={release.tag_name} onClose={() => setRemoved(undefined)} />
      )}
    </ul>
  )
}

function LinkedFile({ link, tag }: { link: ReleaseLink; tag: string }) {
  const project = useProjectPath()
  const { name, link_type, size, sha256 } = link
  return (
    <div className="flex min-w-[min(100%,14rem)] flex-1 flex-wrap items-baseline gap-x-3 gap-y-0.5">
      <a
        href={downloadAddress(link, `${project}/releases/${segment(tag)}`)}
        rel="noreferrer"
        dir="auto"
        className="font-medium text-accent hover:underline"
      >
        {visibleControls(name)}
      </a>
      {link_type !== 'other' && <Badge>{link_type}</Badge>}
      {size !== undefined && <span className="text-quiet tabular-nums">{bytes(size)}</span>}
      {sha256 !== undefined && (
        <span className="text-quiet">
          SHA-256 <code className="font-mono text-xs break-all">{sha256}</code>
        </span>
      )}
    </div>
  )
}

/**
 * Returns the address of a download. A file of the project comes from the API, where the session of the
 * browser is valid.
 */
function downloadAddress({ url, direct_asset_url, sha256 }: ReleaseLink, release: string): string {
  if (sha256 === undefined) return url
  const [, path] = /\/-\/releases\/[^/]+\/downloads(\/.+)$/.exec(new URL(direct_asset_url).pathname) ?? []
  return path === undefined ? url : addressOf(`${release}/downloads${path}`)
}

function RemoveDialog({ link, tag, onClose }: { link: ReleaseLink; tag: string; onClose: () => void }) {
  const project = useProjectPath()
  const client = useQueryClient()
  const name = visibleControls(link.name)
  const run = async (form: FormData) => {
    await removeReleaseFile({ project, tag }, link, form.get('file') === 'on')
    await client.invalidateQueries({ queryKey: [project, 'releases'] })
    onClose()
  }
  return (
    <ActionDialog title={`Remove ${name}`} action="Remove" look="danger" run={run} onClose={onClose}>
      <p className="mb-3">The release has this file no longer, and links to it lead nowhere.</p>
      {packageAddressOf(link) !== undefined && (
        <CheckboxField label="Delete the stored file as well" name="file" defaultChecked />
      )}
    </ActionDialog>
  )
}
