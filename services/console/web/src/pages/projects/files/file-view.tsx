import { useQuery } from '@tanstack/react-query'
import { buttonClass } from '../../../components/button'
import { Panel } from '../../../components/page'
import { Shown } from '../../../components/states'
import { bytes, splitLines } from '../../../lib/format'
import { useProjectPath } from '../project-frame'
import { BlameView } from './blame-view'
import { fileQuery, type ReadFile, rawAddress, splitPath } from './file-data'
import { folderOf, Rendered } from './folder-view'
import { SourceView } from './source-view'

const shownCharactersMax = 4_000_000

export type FileViewName = 'source' | 'rendered' | 'blame'

export function FileView({ gitRef, path, view }: { gitRef: string; path: string; view: FileViewName }) {
  const project = useProjectPath()
  const file = useQuery(fileQuery(project, gitRef, path))
  const [, name] = splitPath(path)
  return (
    <Panel name={name} busy={file.isPending} flush>
      <Shown query={file}>
        {(read) => (
          <>
            <p className="border-b px-4 py-1.5 text-sm text-quiet">{describe(read)}</p>
            {view === 'blame' && read.text !== null ? (
              <BlameView gitRef={gitRef} path={path} />
            ) : (
              <Content gitRef={gitRef} path={path} read={read} isRendered={view === 'rendered'} />
            )}
          </>
        )}
      </Shown>
    </Panel>
  )
}

function describe({ file, text, isUtf8 }: ReadFile): string {
  const size = bytes(file.size)
  if (text === null) return `${size}, binary`
  const lines = text === '' ? 0 : splitLines(text).length
  return `${lines} ${lines === 1 ? 'line' : 'lines'}, ${size}${isUtf8 ? '' : ', not UTF-8: read as Windows-1252'}`
}

interface ContentProps {
  gitRef: string
  path: string
  read: ReadFile
  isRendered: boolean
}

function Content({ gitRef, path, read: { file, text }, isRendered }: ContentProps) {
  const project = useProjectPath()
  const type = imageTypeOf(path)
  if (type && (text === null || isRendered || type === 'image/svg+xml')) {
    return (
      <div className="bg-raised p-4 text-center">
        <img src={`data:${type};base64,${file.content}`} alt={path} className="inline-block max-w-full" />
      </div>
    )
  }
  if (text === null || text.length > shownCharactersMax) {
    return (
      <p className="p-4">
        {text === null ? 'This file is binary.' : 'This file is too long to be shown.'}{' '}
        <a href={rawAddress(project, gitRef, path)} className={buttonClass()} download>
          Download
        </a>
      </p>
    )
  }
  if (text === '') return <p className="p-4 text-quiet">This file is empty.</p>
  if (isRendered) {
    return (
      <div className="p-4">
        <Rendered gitRef={gitRef} folder={folderOf(path)} name={path} text={text} />
      </div>
    )
  }
  return <SourceView path={path} text={text} />
}

const imageTypes: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  ico: 'image/x-icon',
  bmp: 'image/bmp',
  svg: 'image/svg+xml',
}

const imageTypeOf = (path: string) => imageTypes[path.slice(path.lastIndexOf('.') + 1).toLowerCase()]
