import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// `npm run dev` in this folder serves the sources and sends everything else to a service on port 3000.
const service = process.env.FERNPOST_URL ?? 'http://localhost:3000';
const pages = /^\/($|app(\/|$)|src\/|@|node_modules\/|icon\.svg$|index\.html$)/;

export default defineConfig({
  plugins: [react(), tailwind()],
  build: {
    target: 'es2023',
    assetsDir: 'assets',
    sourcemap: false,
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
              test: /dashboard\/src\/(ui\/(?!Chart|EndlessRows|Tabs|overlays\/(?!use-))|api\/|words\/|app\/(?!CommandPalette|ShortcutsDialog|key-lists)|standby\/use-part)/,
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
