# For a release, pin the base by its digest: node:24-slim@sha256:… (docker buildx imagetools inspect node:24-slim).
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig*.json ./
COPY scripts scripts
COPY src src
RUN node scripts/build.mjs && npm prune --omit=dev --ignore-scripts --no-audit --no-fund
# V8's compiled code, for the user and the flags below.
RUN install -d -o 10001 -g 10001 dist/.cache
USER 10001:10001
RUN node --max-semi-space-size=64 --no-parallel-scavenge scripts/build/fill-code-cache.mjs

FROM node:24-slim
# docker build --build-arg VERSION="$(node -p 'require("./package.json").version')" --build-arg REVISION="$(git rev-parse HEAD)" .
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Parley" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY defaults defaults
COPY README.md README.zh-CN.md ./
COPY docs docs
# For DATA_DIR=/data: the service alone keeps its keys there, a worker its index of the documents.
RUN install -d -o 10001 -g 10001 /data
# Nothing in /app can be written by the process; what it keeps lies in Redis.
USER 10001:10001
EXPOSE 8080
# Only whether the process lives: whether it can work is /readyz, for the load balancer.
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT || process.env.PORT || 8080}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node is process 1, so that SIGTERM reaches it and running answers can end.
CMD ["node", "--max-semi-space-size=64", "--no-parallel-scavenge", "dist/main.js"]
