import Markdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { isWebAddress, visibleControls } from '../../../lib/format'
import { endBareAddresses } from './bare-addresses'
import './markdown.css'

const depths = { first: 3, last: 6 }

/** Shifts headings to begin right below the page's own, whatever level the text begins with. */
const headingsBelowPage = () => (tree: { children: { type: string; depth?: number }[] }) => {
  const headings = tree.children.filter(({ type }) => type === 'heading')
  const top = Math.min(...headings.map(({ depth = 1 }) => depth))
  for (const heading of headings)
    heading.depth = Math.min((heading.depth ?? 1) - top + depths.first, depths.last)
}

/**
 * Renders Markdown. HTML in it is shown as text; links lead to the web or within the repository.
 *
 * @param linkTo returns the address of another file of the repository in the console
 * @param imageAt returns the address of an image of the repository
 */
export function MarkdownView({
  text,
  linkTo,
  imageAt,
}: {
  text: string
  linkTo: (path: string) => string
  imageAt: (path: string) => string
}) {
  const components: Components = {
    a: ({ href = '', children }) => (
      <a href={href.startsWith('#') || isWebAddress(href) ? href : linkTo(href)} rel="noreferrer">
        {children}
      </a>
    ),
    // The content security policy allows no images of other hosts.
    img: ({ src = '', alt = '' }) =>
      isWebAddress(String(src)) ? (
        <a href={String(src)} rel="noreferrer">
          {alt || 'Image'}
        </a>
      ) : (
        <img src={imageAt(String(src))} alt={alt} />
      ),
    // A task list cannot be changed here.
    input: ({ checked }) => <span aria-hidden="true">{checked ? '☑' : '☐'}</span>,
    h3: ({ children }) => <h3 className="markdown-h1">{children}</h3>,
    h4: ({ children }) => <h4 className="markdown-h2">{children}</h4>,
    h5: ({ children }) => <h5 className="markdown-h3">{children}</h5>,
    table: ({ children }) => (
      <div className="overflow-x-auto">
        <table>{children}</table>
      </div>
    ),
    td: ({ children }) => <td>{children}</td>,
    th: ({ children }) => <th>{children}</th>,
  }
  return (
    <div className="markdown" dir="auto">
      <Markdown remarkPlugins={[remarkGfm, endBareAddresses, headingsBelowPage]} components={components}>
        {visibleControls(text)}
      </Markdown>
    </div>
  )
}
