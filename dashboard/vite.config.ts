import { fileURLToPath } from 'node:url';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

// `npm run dev` in this folder serves the sources and sends everything else to a service on port 3000.
const service = process.env.FERNPOST_URL ?? 'http://localhost:3000';
const pages = /^\/($|app(\/|$)|src\/|@|node_modules\/|icon\.svg$|index\.html$)/;

// The typeface is there when the first text is laid out, which would otherwise be done twice.
const earlyTypeface: Plugin = {
  name: 'early-typeface',
  transformIndexHtml: {
    order: 'post',
    handler: (_, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((name) => name.endsWith('.woff2'))
        .map((name) => ({
          tag: 'link',
          injectTo: 'head' as const,
          attrs: { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: true, href: `/${name}` },
        })),
  },
};

export default defineConfig({
  plugins: [react(), tailwind(), earlyTypeface],
  // The canvas of workflows blends no colors, and its pages are 3 kB lighter without what can.
  resolve: {
    alias: { 'd3-color': fileURLToPath(new URL('./src/pages/workflows/canvas/no-colors.ts', import.meta.url)) },
  },
  build: {
    target: 'es2023',
    assetsDir: 'assets',
    sourcemap: false,
    // Only browsers from before 2023 need it, and without it they load the same later.
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    // All styles at once: those of a page that could not be loaded at the first try are not asked for again.
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        // What nearly every page is made of comes as one file instead of a dozen small ones; the heavy parts stay apart.
        codeSplitting: {
          groups: [
            {
              name: 'parts',
              test: /dashboard\/src\/(ui\/(?!Chart|DaysChart|EndlessRows|FileField|RotateDialog|Tabs|overlays\/(?!use-))|api\/|words\/(?!time-axis)|app\/(?!CommandPalette|ConflictDialog|draft|ShortcutsDialog|key-lists|unsaved)|standby\/use-part)|icons\/(download|ellipsis|trash|upload|x)\.|contact-name|pages\/(domains\/domain|settings\/project)\.ts/,
            },
          ],
        },
      },
    },
  },
  server: {
    port: 3100,
    proxy: {
      '/': {
        target: service,
        // The service refuses changes that a page of another origin asks for with somebody's session.
        headers: { origin: new URL(service).origin },
        bypass: (request) => (pages.test(request.url ?? '') ? request.url : null),
      },
    },
  },
});
