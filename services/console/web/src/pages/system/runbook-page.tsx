import { useQuery } from '@tanstack/react-query'
import { useLocation, useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Page, Panel } from '../../components/page'
import { Loading, NotFound } from '../../components/states'
import { MarkdownView } from '../projects/files/markdown-view'

const pages = import.meta.glob<string>('../../../../../../docs/runbooks/*.md', {
  query: '?raw',
  import: 'default',
})

/** The loaders of the pages by their names in the address. */
const loaders = new Map(
  Object.entries(pages).map(([path, load]) => [path.slice(path.lastIndexOf('/') + 1, -'.md'.length), load]),
)

/**
 * Returns the address of a link. Links between runbooks lead to their pages; other documentation is beside
 * the sources.
 */
const linkTo = (path: string) => {
  const [, name, section = ''] = /^([\w-]+)\.md(#\w+)?$/.exec(path) ?? []
  return name ? `/console/runbooks/${name}${section}` : '/console/docs'
}

const headingOf = (section: string) =>
  [...document.querySelectorAll<HTMLElement>('.markdown :is(h3, h4, h5)')].find(
    ({ textContent }) => textContent.toLowerCase() === section,
  )

/** Instructions for an alert. Alerts link here: `/console/runbooks/services#servicemissing`. */
export function RunbookPage() {
  const { page } = useParams({ from: '/runbooks/$page' })
  const { hash } = useLocation()
  const load = loaders.get(page)
  const { data } = useQuery({
    queryKey: ['runbook', page],
    queryFn: () => load?.() ?? '',
    enabled: load !== undefined,
  })
  useEffect(() => {
    if (data && hash) headingOf(hash)?.scrollIntoView()
  }, [data, hash])
  if (!load) return <NotFound />
  return (
    <Page title={`Runbook: ${page}`}>
      <Panel name={page}>
        {data === undefined ? <Loading /> : <MarkdownView text={data} linkTo={linkTo} imageAt={linkTo} />}
      </Panel>
    </Page>
  )
}
