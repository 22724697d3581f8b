import { addressOf, segment } from '../../../api/client'
import { visibleControls } from '../../../lib/format'
import { useProjectPath } from '../project-frame'
import { type Attachment, partsOf } from './attachments'

/** The text of a comment with its pictures, and links to its other files. All other content is plain text. */
export const NoteText = ({ note }: { note: string }) => (
  <div dir="auto" className="whitespace-pre-wrap">
    {partsOf(note).map((part, index) =>
      // Parts of a text have no identity besides their position.
      typeof part === 'string' ? part : <AttachedFile key={index} file={part} />,
    )}
  </div>
)

function AttachedFile({ file: { label, secret, fileName, isPicture } }: { file: Attachment }) {
  const address = addressOf(`${useProjectPath()}/uploads/${secret}/${segment(fileName)}`)
  const text = visibleControls(label)
  return (
    <a href={address} rel="noreferrer" className="text-accent hover:underline">
      {isPicture ? (
        <img src={address} alt={text} loading="lazy" className="my-1 max-h-96 max-w-full rounded-md border" />
      ) : (
        text
      )}
    </a>
  )
}
