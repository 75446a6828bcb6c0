import { fileURLToPath } from 'node:url'

import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

import { TOOL_ICONS } from './src/kit/tool-icon'

const server = process.env.TOOLWRIGHT_URL ?? 'http://127.0.0.1:7420'

/** The icons of tools as files, for MCP clients, which show them outside this app. */
const iconFiles: Plugin = {
  name: 'icon-files',
  generateBundle() {
    for (const [name, icon] of Object.entries(TOOL_ICONS)) {
      const source = renderToStaticMarkup(createElement(icon))
      this.emitFile({ type: 'asset', fileName: `icons/${name}.svg`, source })
    }
  },
}

export default defineConfig({
  plugins: [react(), tailwindcss(), iconFiles],
  resolve: { alias: { '~': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    outDir: 'dist',
    // Every file but the page carries its own hash, so the server lets browsers keep it for ever.
    assetsDir: 'assets',
    sourcemap: false,
    // A data: address would need a hole in the content security policy.
    assetsInlineLimit: 0,
  },
  server: {
    proxy: {
      '/api': {
        target: server,
        changeOrigin: true,
        // The server takes requests from its own pages only.
        headers: { origin: server },
      },
    },
  },
  test: {
    environment: 'happy-dom',
    globals: true,
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/test-setup.ts'],
  },
})
