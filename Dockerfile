# The image of every process of Faregate: API, workers by role, the operator's CLI and the provider simulator.
#
#   API       node --max-semi-space-size=32 api/main.ts        (what it starts by default)
#   workers   node workers/main.ts settlement                  (or projector, video, market; several; none for all)
#   CLI       node api/admin/cli.ts migrate
#
# The base is pinned by content, and the digest has no default: a digest that nobody looked up pins nothing. Look up the one of
# the list for all platforms, and keep it where the image is built:
#
#   docker buildx imagetools inspect node:26.10.0-trixie-slim --format '{{.Manifest.Digest}}'
#   make image NODE_DIGEST=sha256:…
#
# Another base has to have Node 26 at /usr/local/bin, npm, a shell and glibc: NODE_IMAGE names it.
ARG NODE_IMAGE=docker.io/library/node:26.10.0-trixie-slim
ARG NODE_DIGEST

# What has been installed is told apart from what installs it: npm and the bill of materials stay here.
FROM ${NODE_IMAGE}@${NODE_DIGEST} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The image has its own Node, so the optional packages that hold one stay away.
RUN npm ci --omit=dev --omit=optional --no-progress --loglevel=error
COPY image/finish-packages.ts image/licences.ts ./image/
# The bill is made of what was installed: of the lock file alone, npm leaves out what a development package needs as well.
RUN npm pkg delete devDependencies optionalDependencies \
  && npm sbom --sbom-format=cyclonedx --sbom-type=application > sbom.cdx.json \
  && node image/finish-packages.ts

FROM ${NODE_IMAGE}@${NODE_DIGEST} AS runtime
ARG NODE_IMAGE
ARG NODE_DIGEST
ARG VERSION=0.1.0
ARG REVISION=unknown
# Whose the sources are: the image's user where a development tool changes them in a running container, else root.
ARG SOURCES_OWNER=0:0
LABEL org.opencontainers.image.title="faregate" \
  org.opencontainers.image.description="A prepaid gateway for AI model calls" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.base.name="${NODE_IMAGE}" \
  org.opencontainers.image.base.digest="${NODE_DIGEST}"
# Nothing is installed in a running container, and what could install something has flaws of its own.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
  /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-* \
  && mkdir -p /app/.cache /var/lib/faregate \
  && chown 10001:10001 /app/.cache /var/lib/faregate
WORKDIR /app
COPY LICENSE ./
COPY --from=packages /app/package.json /app/sbom.cdx.json /app/THIRD_PARTY_LICENCES.txt ./
COPY --from=packages /app/node_modules ./node_modules
COPY openapi/v1.json ./openapi/
COPY docs/guides ./docs/guides
COPY --chown=${SOURCES_OWNER} api ./api
COPY --chown=${SOURCES_OWNER} workers ./workers
ENV NODE_ENV=production \
  NODE_COMPILE_CACHE=/app/.cache/compile \
  FAREGATE_DATA=/var/lib/faregate
USER 10001:10001
# Compiled sources are part of the image: a start takes half as long and 20 MB less. Node keeps them by user, so that another
# one than 10001 starts as if there were none. To start is also the first test: an image that cannot is not made.
RUN PORT=0 INTERNAL_PORT=0 FAREGATE_DATA=/tmp/first-start \
  node --eval "await import('/app/api/main.ts'); process.kill(process.pid, 'SIGTERM')" > /dev/null \
  && node --eval "await import('/app/api/start/workers/start-workers.ts'); \
    await Promise.all(['settlement', 'projector', 'video', 'market'].map((role) => import('/app/api/start/workers/start-' + role + '-role.ts')))" \
  && node --eval "await import('/app/api/simulator/main.ts'); process.kill(process.pid, 'SIGTERM')" -- --port=0 > /dev/null \
  && node api/admin/cli.ts --version > /dev/null \
  && rm -rf /tmp/first-start
EXPOSE 8080 9090
STOPSIGNAL SIGTERM
ENTRYPOINT ["node"]
CMD ["--max-semi-space-size=32", "api/main.ts"]
