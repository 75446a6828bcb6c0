import { fileURLToPath } from 'node:url'

import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    environment: 'node',
    globals: true,
    include: ['e2e/screenshots.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
