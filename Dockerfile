# toolbridge in a container: the command and nothing else; no pip, no compiler, no root.
#
#   docker build -t toolbridge .
#   docker run --rm -it -v "$PWD:/work:ro" -e OPENAI_API_KEY toolbridge chat "What is in bed B2?"
#   docker run --rm -i toolbridge convert - --to anthropic < tools.json
#
# Servers on stdio are started inside: what their commands need has to be there, as in an image FROM this one with Node.
# The built-in model, the keyring and Redis are extras: docker build --build-arg EXTRAS=local,redis .

FROM python:3.13-slim AS build
ARG EXTRAS=
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv --without-pip /opt/toolbridge \
    && python -m pip --python /opt/toolbridge/bin/python --disable-pip-version-check install --no-cache-dir \
        ".${EXTRAS:+[$EXTRAS]}"

FROM python:3.13-slim
LABEL org.opencontainers.image.title="toolbridge" \
    org.opencontainers.image.description="Joins MCP servers to the tool calling of every language model" \
    org.opencontainers.image.licenses="MIT"
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin toolbridge \
    && mkdir /work \
    && chown toolbridge: /work
COPY --from=build /opt/toolbridge /opt/toolbridge
ENV PATH=/opt/toolbridge/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1
# A number, so that a cluster which asks for it can see that this is not root.
USER 10001:10001
WORKDIR /work
ENTRYPOINT ["toolbridge"]
CMD ["--help"]
