FROM node:20 AS builder
ARG VERSION=1
ENV LIMIT=10
RUN npm ci

FROM builder AS runtime
COPY --from=builder /a/$VERSION /b
