import type { ReactNode } from 'react'
import { upload } from '../../../api/upload'
import { FileButton, FileDrop, UploadList } from '../../../components/upload-parts'
import { type Uploads, useUploads } from '../../../components/use-uploads'
import type { Upload } from '../../../generated/types.gen'
import { useHasRole } from '../project-data'
import { useProjectPath } from '../project-frame'

/** Uploads files for a text. @param onStored receives the Markdown of each stored file */
export function useAttachments(onStored: (markdown: string) => void): Uploads {
  const project = useProjectPath()
  return useUploads(async (file, transfer) => {
    const body = new FormData()
    body.set('file', file)
    const { markdown } = await upload<Upload>({ method: 'POST', path: `${project}/uploads`, body }, transfer)
    onStored(markdown)
  })
}

/** Returns the text of a field with the Markdown of a file, at the cursor or at its end. */
export function withMarkdown(field: HTMLTextAreaElement, markdown: string): string {
  const { value } = field
  const at = field === document.activeElement ? field.selectionEnd : value.length
  const [before, after] = [value.slice(0, at), value.slice(at)]
  const gap = before === '' || /\s$/.test(before) ? '' : '\n'
  return `${before}${gap}${markdown}${after.startsWith('\n') ? '' : '\n'}${after}`
}

/** A field whose text can have files, which are chosen, dropped, or pasted into it. */
export function WithAttachments({ attachments, children }: { attachments: Uploads; children: ReactNode }) {
  // Everybody can comment on a public project, but only members may use its storage.
  if (!useHasRole('guest')) return children
  return (
    <FileDrop label="Attachments" onFiles={attachments.add}>
      {children}
      <div className="mb-3">
        <div className="flex flex-wrap items-center gap-2 text-sm">
          <FileButton onFiles={attachments.add}>Attach files…</FileButton>
          <span className="text-quiet">or drop or paste them.</span>
        </div>
        <UploadList {...attachments} />
      </div>
    </FileDrop>
  )
}
