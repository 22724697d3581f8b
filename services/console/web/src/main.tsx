import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/client'
import { sessionQuery } from './api/session'
import { onUnauthorized } from './api/session-end'
import './lib/theme'
import { makeRouter } from './router'
import './styles.css'

const retriesMax = 2

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      retry: (failures, error) =>
        failures < retriesMax && error instanceof ApiError && (error.status === 0 || error.status >= 500),
    },
  },
})
const router = makeRouter(queryClient)

// The session may have ended, so the current user is requested again. Without one, the router moves to the
// sign-in page.
onUnauthorized(() => {
  const ask = async () => {
    const { user } = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })
    if (!user) await router.invalidate()
  }
  // Without an answer, the next refusal asks again.
  ask().catch(() => undefined)
})

const element = document.getElementById('root')
if (!element) throw new Error('index.html has no element "root"')
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
