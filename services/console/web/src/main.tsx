import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/client'
import { sessionQuery } from './api/session'
import { makeRouter } from './router'
import './styles.css'

const retriesMax = 2

const queryClient = new QueryClient({
  queryCache: new QueryCache({
    // The session ended meanwhile: ask again who is signed in, and the router moves to the sign-in page.
    onError(error) {
      if (!(error instanceof ApiError) || error.status !== 401) return
      void queryClient.resetQueries(sessionQuery).then(() => router.invalidate())
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 5000,
      retry: (failures, error) =>
        failures < retriesMax && error instanceof ApiError && (error.status === 0 || error.status >= 500),
    },
  },
})
const router = makeRouter(queryClient)

const element = document.getElementById('root')
if (!element) throw new Error('index.html has no element "root"')
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
