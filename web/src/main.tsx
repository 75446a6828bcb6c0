import './app.css'

import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

import { queryClient } from '~/api/client'
import { startTexts } from '~/i18n'
import { Toasts } from '~/kit/toast'
import { nonce } from '~/nonce'
import { router } from '~/router'
import { followSystem } from '~/theme'

// Menus and dialogs keep the page behind them from scrolling by a style element of their own.
setNonce(nonce)
followSystem()
await startTexts()

const root = document.getElementById('root')
if (!root) throw new Error('the page has no #root')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
)
