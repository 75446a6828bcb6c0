import { fileURLToPath } from 'node:url'

import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import type { LucideIconData } from 'lucide-react'
import iconImports from 'lucide-react/dynamicIconImports'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

import { TOOL_ICONS } from './src/kit/tool-icons'

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

const ICONS = 'virtual:icons'

/** The name of every icon of Lucide, each with the names that it had before, for whoever looks for one. */
async function iconNames(): Promise<string[]> {
  const names = new Map<string, string[]>()
  for (const [name, load] of Object.entries(iconImports)) {
    const module = (await load()) as unknown as { __iconData: LucideIconData }
    const own = module.__iconData.name ?? name
    const others = names.get(own) ?? []
    names.set(own, name === own ? others : [...others, name])
  }
  return [...names].map(([name, others]) => [name, ...others].join(' ')).sort()
}

/** Every icon of Lucide as data, in a file for each letter: whoever shows a rare one loads a few kilobytes. */
const iconData: Plugin = {
  name: 'icon-data',
  resolveId: (id) => (id.startsWith(ICONS) ? `\0${id}` : undefined),
  async load(id) {
    if (!id.startsWith(`\0${ICONS}`)) return undefined
    const letter = id.split('/')[1]
    if (letter === 'names') return `export default ${JSON.stringify(await iconNames())}`
    if (!letter) {
      const letters = [...new Set(Object.keys(iconImports).map((name) => name.charAt(0)))]
      const loads = letters.map((letter) => `${letter}: () => import('${ICONS}/${letter}')`)
      return `export default { ${loads.join(', ')} }`
    }
    const loads = Object.entries(iconImports).filter(([name]) => name.startsWith(letter))
    const icons = loads.map(async ([name, load]) => {
      const module = (await load()) as unknown as { __iconData: LucideIconData }
      const { name: shown, size, node } = module.__iconData
      return [name, { name: shown, size, node }]
    })
    return `export default ${JSON.stringify(Object.fromEntries(await Promise.all(icons)))}`
  },
}

export default defineConfig({
  plugins: [react(), tailwindcss(), iconFiles, iconData],
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
    // A busy machine is slow, not wrong.
    testTimeout: 30_000,
  },
})
