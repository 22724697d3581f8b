import { useRouter } from '@tanstack/react-router'
import { Page } from '../components/page'
import { isMissing, NotFound, Problem } from '../components/states'

/** A page that could not be shown. */
export function Failed({ error, reset }: { error: unknown; reset?: () => void }) {
  const router = useRouter()
  if (isMissing(error)) return <NotFound />
  const retry = () => {
    reset?.()
    return router.invalidate()
  }
  return (
    <Page title="This page could not be shown">
      <Problem error={error} retry={retry} />
    </Page>
  )
}
