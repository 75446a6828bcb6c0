import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'

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

/** What is smaller gains nothing. */
const COMPRESSED_FROM = 1_000

/** Every script and style compressed as well as can be, once and for all, for the server to send as it is. */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      for (const [fileName, file] of Object.entries(bundle)) {
        const source = file.type === 'chunk' ? file.code : file.source
        if (!/\.(js|css)$/.test(fileName) || source.length < COMPRESSED_FROM) continue
        this.emitFile({
          type: 'asset',
          fileName: `${fileName}.br`,
          source: brotliCompressSync(source),
        })
      }
    },
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

/** Menus and dialogs, which nobody opens in the first second. */
const MENUS =
  /node_modules\/(radix-ui|@radix-ui|@floating-ui|aria-hidden|react-remove-scroll|react-remove-scroll-bar|react-style-singleton|use-callback-ref|use-sidecar|detect-node-es|tslib)\//
const OF_EVERY_PAGE =
  /node_modules\/(react|react-dom|scheduler|@tanstack\/(react-router|router-core|history|react-store|store|react-query|query-core)|i18next|react-i18next|html-parse-stringify|void-elements|get-nonce|use-sync-external-store|openapi-fetch|clsx|class-variance-authority|lucide-react)\//
const OUR_OWN =
  /\/web\/src\/(api\/|kit\/(badge|button|cn|copy|field|kept|key-sheet|keys|lazy-part|level-badge|merge-classes|move-focus|not-loaded|now|page-keys|plain|search-box|server-back|states|time|title|toast|tool-icons?|wide)\.|shell\/(shell|account|shortcuts|titled|page-not-loaded)\.|i18n\/(index|server-words)\.|features\/[^/]+\/(credentials\/)?search\.|(nonce|router|theme)\.)/

function isOfMenus(id: string): boolean {
  return MENUS.test(id) || id.endsWith('/src/kit/dialog.tsx')
}

function isOfEveryPage(id: string): boolean {
  return OF_EVERY_PAGE.test(id) || OUR_OWN.test(id) || id.startsWith('\0vite/')
}

export default defineConfig({
  plugins: [react(), tailwindcss(), iconFiles, iconData, compressed],
  resolve: { alias: { '~': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    outDir: 'dist',
    // Every file but the page carries its own hash, so the server lets browsers keep it for ever.
    assetsDir: 'assets',
    sourcemap: false,
    // A data: address would need a hole in the content security policy.
    assetsInlineLimit: 0,
    // Every file is a request with its own headers, and small ones compress badly: what every page needs is one file,
    // icons included, and what menus and dialogs need is another. The rest comes with the page that shows it.
    rolldownOptions: {
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: 'menus', test: isOfMenus, priority: 2 },
            { name: 'base', test: isOfEveryPage, priority: 1 },
          ],
        },
      },
    },
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
